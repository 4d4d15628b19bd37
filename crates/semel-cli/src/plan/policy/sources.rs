//! Where the key is read from.

use std::str::FromStr;

use http::HeaderName;
use semel::Preset;
use semel_http::{BaggageKey, HeaderSyntax, KeySources};

use crate::args::PolicyArgs;
use crate::exit::Stop;
use crate::plan::flag::{Flag, flag};

const HEADER: &str = "the name of a header, such as Idempotency-Key";
const BAGGAGE: &str = "the name of a baggage member, such as xihan.idempotency-key; empty for none";

/// The places and how they are read; none where no flag says anything about them.
pub(super) fn resolve(args: &PolicyArgs, preset: Preset) -> Result<Option<KeySources>, Stop> {
    let syntax = flag("--header-syntax", &args.header_syntax).parsed::<HeaderSyntax>()?;
    let headers = headers(args)?;
    let baggage = baggage(args)?;
    if syntax.is_none() && headers.is_none() && baggage.is_none() {
        return Ok(None);
    }
    let base = Base::of(preset);
    let headers = headers.unwrap_or(base.headers);
    let sources = KeySources::new(headers, baggage.unwrap_or(base.baggage)).map_err(|why| {
        Stop::flag("--header-name", &args.header_name.join(", "), format_args!("{why}"))
    })?;
    Ok(Some(sources.with_syntax(syntax.unwrap_or(base.syntax))))
}

fn headers(args: &PolicyArgs) -> Result<Option<Vec<HeaderName>>, Stop> {
    let read = |name: &String| {
        let flag = Flag { name: "--header-name", value: Some(name) };
        flag.read(HEADER, HeaderName::from_str)
    };
    let names: Vec<_> = args.header_name.iter().map(read).collect::<Result<_, _>>()?;
    let names: Vec<_> = names.into_iter().flatten().collect();
    Ok((!names.is_empty()).then_some(names))
}

fn baggage(args: &PolicyArgs) -> Result<Option<Option<BaggageKey>>, Stop> {
    flag("--baggage-key", &args.baggage_key).read(BAGGAGE, |text| match text {
        "" => Ok(None),
        name => BaggageKey::new(name).map(Some),
    })
}

/// What a preset reads, for flags that change a part of it.
struct Base {
    headers: Vec<HeaderName>,
    baggage: Option<BaggageKey>,
    syntax: HeaderSyntax,
}

impl Base {
    fn of(preset: Preset) -> Self {
        let header = HeaderName::from_static("idempotency-key");
        let baggage = BaggageKey::default();
        let (headers, baggage, syntax) = match preset {
            Preset::Rest | Preset::Stripe => (vec![header], None, HeaderSyntax::Lenient),
            Preset::Ietf => (vec![header], None, HeaderSyntax::Strict),
            Preset::Xihan => (vec![], Some(baggage), HeaderSyntax::Lenient),
            _ => (vec![header], Some(baggage), HeaderSyntax::Lenient),
        };
        Self { headers, baggage, syntax }
    }
}
