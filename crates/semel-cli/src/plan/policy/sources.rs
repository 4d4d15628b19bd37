//! Where the key is read from.

use std::str::FromStr;

use http::HeaderName;
use semel_http::{BaggageKey, HeaderSyntax, KeySource, KeySources};

use crate::args::PolicyArgs;
use crate::exit::Stop;
use crate::plan::flag::{Flag, flag};

const HEADER: &str = "the name of a header, such as Idempotency-Key";
const BAGGAGE: &str = "the name of a baggage member, such as xihan.idempotency-key; empty for none";

/// The places and how they are read, which change those of `base`; none where no flag says
/// anything about them.
pub(super) fn resolve(args: &PolicyArgs, base: &KeySources) -> Result<Option<KeySources>, Stop> {
    let syntax = flag("--header-syntax", &args.header_syntax).parsed::<HeaderSyntax>()?;
    let headers = headers(args)?;
    let baggage = baggage(args)?;
    if syntax.is_none() && headers.is_none() && baggage.is_none() {
        return Ok(None);
    }
    let (base_headers, base_baggage) = parts(base);
    let headers = headers.unwrap_or(base_headers);
    let sources = KeySources::new(headers, baggage.unwrap_or(base_baggage)).map_err(|why| {
        Stop::flag("--header-name", &args.header_name.join(", "), format_args!("{why}"))
    })?;
    Ok(Some(sources.with_syntax(syntax.unwrap_or(base.syntax()))))
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

/// What is read where no flag says otherwise, for flags that change a part of it.
fn parts(sources: &KeySources) -> (Vec<HeaderName>, Option<BaggageKey>) {
    let (mut headers, mut baggage) = (Vec::new(), None);
    for place in sources.places() {
        match place {
            KeySource::Header(name) => headers.push(name.clone()),
            KeySource::Baggage(member) => baggage = Some(member.clone()),
            _ => {}
        }
    }
    (headers, baggage)
}
