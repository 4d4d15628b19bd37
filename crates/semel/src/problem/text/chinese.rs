//! Simplified Chinese.

use std::sync::Arc;

use semel_core::Operation;

use super::super::code::Code;
use super::super::key_fault::KeyFault;
use super::super::kind::ProblemKind;
use super::super::moment::rfc3339;
use super::super::params::rounded_up;
use super::{Span, shown};

pub(super) const fn title(code: Code) -> &'static str {
    match code {
        Code::LockHeld => "资源已被锁定",
        Code::InProgress => "使用该幂等键的首个请求仍在处理中",
        Code::KeyReused => "该幂等键属于另一个操作",
        Code::ResponseUnavailable => "首个请求的响应不可用",
        Code::InDoubt => "首个请求的结果未知",
        Code::KeyInvalid => "键无效",
        Code::KeyMissing => "缺少幂等键",
        Code::PayloadMismatch => "该幂等键已用于不同的请求",
        Code::KeyExpired => "幂等键已过期",
        Code::BodyTooLarge => "请求体过大",
        Code::StoreUnavailable => "无法连接存储",
        Code::StoreFull => "存储已满",
    }
}

pub(super) fn detail(kind: &ProblemKind) -> String {
    match kind {
        ProblemKind::LockHeld { .. } => {
            "该资源的锁正由其他调用方持有。请在锁释放后重试。".to_owned()
        }
        ProblemKind::InProgress { retry_after } => {
            let when = retry_after.map_or("稍后".to_owned(), |after| {
                format!("在 {}后", span(Span::Seconds(rounded_up(after))))
            });
            format!(
                "使用该幂等键的首个请求尚未结束。请{when}使用同一幂等键重新发送相同的请求，届时将得到首个请求的响应。"
            )
        }
        ProblemKind::KeyReused { operation, recorded } => format!(
            "该幂等键最初用于{}，而本次请求是{}。请为每个操作使用新的幂等键。",
            named(recorded),
            named(operation)
        ),
        ProblemKind::ResponseUnavailable => RESPONSE_UNAVAILABLE.to_owned(),
        ProblemKind::InDoubt { since } => format!(
            "自 {} 起，使用该幂等键的首个请求再无消息：它可能已生效，也可能没有。请先确认它是否已生效，再决定是否使用新的幂等键重新发送。",
            rfc3339(*since)
        ),
        ProblemKind::KeyInvalid { fault } => key_fault(*fault),
        ProblemKind::KeyMissing { header } => format!(
            "该请求必须在请求头 `{}` 中携带幂等键。请为每个新请求生成一个幂等键（例如 UUID），并在每次重试时使用同一个键。",
            shown(header)
        ),
        ProblemKind::PayloadMismatch { differs } => mismatch(differs),
        ProblemKind::KeyExpired { age, limit } => format!(
            "该幂等键生成于 {}前，而幂等键只保留 {}，因此已无法判断该请求此前是否执行过。请先确认它是否已生效，再决定是否使用新的幂等键重新发送。",
            span(Span::of(*age)),
            span(Span::of(*limit))
        ),
        ProblemKind::BodyTooLarge { limit } => format!(
            "请求体超过了允许的上限 {} 字节，请求未被执行。请缩小请求体后重新发送。",
            limit.as_u64()
        ),
        ProblemKind::StoreUnavailable => {
            "无法连接用于记录幂等键的存储，请求未被执行。请稍后使用同一幂等键重新发送。".to_owned()
        }
        ProblemKind::StoreFull => {
            "存储没有空间记录新的幂等键，请求未被执行。请稍后使用同一幂等键重新发送。".to_owned()
        }
    }
}

const RESPONSE_UNAVAILABLE: &str = "使用该幂等键的首个请求已经执行，但其响应没有保留。操作未被重复执行。请直接查询该请求所创建或修改的内容以获知结果；使用新的幂等键会使操作再执行一次。";

fn named(operation: &Operation) -> String {
    if operation.is_unnamed() {
        return "未指定操作的调用".to_owned();
    }
    format!("操作“{}”", shown(operation.as_str()))
}

fn mismatch(differs: &[Arc<str>]) -> String {
    let parts: Vec<String> = differs.iter().map(|name| part(name)).collect();
    let what = match parts.as_slice() {
        [] => "本次请求".to_owned(),
        [one] => one.clone(),
        [first @ .., last] => format!("{}和{last}", first.join("、")),
    };
    format!("{what}与首次使用该幂等键时不同。新的请求请使用新的幂等键。")
}

fn part(name: &str) -> String {
    match name {
        "body" => "请求体".to_owned(),
        "query" => "查询字符串".to_owned(),
        "content-type" => "内容类型".to_owned(),
        "content-encoding" => "内容编码".to_owned(),
        "method" => "请求方法".to_owned(),
        "path" => "请求路径".to_owned(),
        selected => format!("字段“{}”", shown(selected)),
    }
}

fn key_fault(fault: KeyFault) -> String {
    let text = match fault {
        KeyFault::Empty => "键为空。请至少发送一个字符。",
        KeyFault::Blank => "键只包含空白字符。请发送有内容的键。",
        KeyFault::TooLong { max_chars } => {
            return format!(
                "键过长。请发送不超过 {max_chars} 个字符的键；过长的键不会被截断，否则两个不同的键可能被当作同一个。"
            );
        }
        KeyFault::ComposedTooLong => "键与所属租户和主体合并后过长。请发送更短的键。",
        KeyFault::NotVisibleAscii => {
            "键中含有空格、控制字符或非 ASCII 字符。请只使用可见的 ASCII 字符（! 到 ~）。"
        }
        KeyFault::WhiteSpace => "键中含有空白字符。请去除后重新发送。",
        KeyFault::ControlCharacter => "键中含有控制字符。请去除后重新发送。",
        KeyFault::NotAUuid => {
            "键不是 UUID。请发送形如 xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx 的十六进制 UUID。"
        }
        KeyFault::NotAUuidV7 => "键不是第 7 版 UUID。请发送按该版本生成的 UUID。",
        KeyFault::NotAUlid => "键不是 ULID。请发送 26 个 Crockford Base32 字符。",
        KeyFault::PatternMismatch => "键不符合该服务要求的格式。具体格式请参阅该服务的文档。",
        KeyFault::MalformedHeader => {
            "无法解析携带键的请求头。请发送一个用双引号括起的字符串，例如 \"8e03978e-40d5-43e8-bc93-6894a57f9324\"。"
        }
        KeyFault::NotQuoted => {
            "携带键的请求头缺少双引号，而该服务要求使用双引号。请发送一个用双引号括起的字符串，例如 \"8e03978e-40d5-43e8-bc93-6894a57f9324\"。"
        }
        KeyFault::SeveralKeys => "请求携带了多个键。请只发送一个请求头，其中只含一个键。",
        KeyFault::SourcesDisagree => {
            "请求头与 baggage 中的键不一致。请只发送其中一个，或在两处使用相同的键。"
        }
        KeyFault::MalformedBaggage => {
            "无法解析 baggage 请求头。请按 W3C Baggage 规范发送：以逗号分隔的 name=value，值使用百分号编码。"
        }
        KeyFault::BaggageTooLarge => {
            "baggage 请求头过大，无法从中读取键。请不要超过 64 个成员和 8192 字节。"
        }
        KeyFault::BaggageMemberTwice => "baggage 请求头中携带键的成员出现了两次。请只发送一次。",
        KeyFault::SelectionNotJson => {
            "该操作按 JSON 请求体中选定的字段识别重复请求，而请求体不是 JSON。请发送 JSON 请求体。"
        }
        KeyFault::SelectionEmpty => {
            "该操作按请求体中选定的字段识别重复请求，而这些字段不存在或全部为 null。请填写这些字段。"
        }
        KeyFault::Other => "键无法按原样保存。请改用其他键，例如 UUID。",
    };
    text.to_owned()
}

fn span(span: Span) -> String {
    match span {
        Span::Seconds(number) => format!("{number} 秒"),
        Span::Minutes(number) => format!("{number} 分钟"),
        Span::Hours(number) => format!("{number} 小时"),
        Span::Days(number) => format!("{number} 天"),
    }
}
