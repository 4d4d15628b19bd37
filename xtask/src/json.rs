//! As much of JSON (RFC 8259) as `cargo metadata` takes: a reader that keeps
//! texts, lists and objects, and passes over numbers and the like.

/// A value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Json {
    Text(String),
    List(Vec<Json>),
    /// Members in the order in which they stand.
    Object(Vec<(String, Json)>),
    /// A number, `true`, `false` or `null`, as written.
    Other(String),
}

impl Json {
    /// The one value of `text`, or nothing if it isn't JSON.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut reader = Reader { rest: text };
        let value = reader.value()?;
        reader.skip_space();
        reader.rest.is_empty().then_some(value)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        self.members()?.iter().find(|(member, _)| member == name).map(|(_, value)| value)
    }

    pub(crate) fn members(&self) -> Option<&[(String, Self)]> {
        if let Self::Object(members) = self { Some(members) } else { None }
    }

    pub(crate) fn list(&self) -> Option<&[Self]> {
        if let Self::List(items) = self { Some(items) } else { None }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
    }

    /// Takes `c`, after white space, if it comes next.
    fn take(&mut self, c: char) -> Option<()> {
        self.skip_space();
        self.rest = self.rest.strip_prefix(c)?;
        Some(())
    }

    fn value(&mut self) -> Option<Json> {
        self.skip_space();
        match self.rest.chars().next()? {
            '"' => self.text().map(Json::Text),
            '[' => self.sequence('[', ']', Self::value).map(Json::List),
            '{' => self.sequence('{', '}', Self::member).map(Json::Object),
            _ => self.other(),
        }
    }

    fn member(&mut self) -> Option<(String, Json)> {
        self.skip_space();
        let name = self.text()?;
        self.take(':')?;
        Some((name, self.value()?))
    }

    fn sequence<T>(
        &mut self,
        open: char,
        close: char,
        item: impl Fn(&mut Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        self.take(open)?;
        let mut items = Vec::new();
        if self.take(close).is_some() {
            return Some(items);
        }
        loop {
            items.push(item(self)?);
            if self.take(',').is_none() {
                self.take(close)?;
                return Some(items);
            }
        }
    }

    fn other(&mut self) -> Option<Json> {
        let end = self.rest.find([',', ']', '}', ' ', '\n', '\r', '\t']);
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        let known = matches!(word, "true" | "false" | "null") || word.parse::<f64>().is_ok();
        self.rest = rest;
        known.then(|| Json::Other(word.to_owned()))
    }

    fn text(&mut self) -> Option<String> {
        self.rest = self.rest.strip_prefix('"')?;
        let mut text = String::new();
        loop {
            let mut chars = self.rest.chars();
            let c = chars.next()?;
            self.rest = chars.as_str();
            match c {
                '"' => return Some(text),
                '\\' => text.push(self.escape()?),
                c => text.push(c),
            }
        }
    }

    fn escape(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let c = chars.next()?;
        self.rest = chars.as_str();
        match c {
            '"' | '\\' | '/' => Some(c),
            'n' => Some('\n'),
            't' => Some('\t'),
            'r' => Some('\r'),
            'b' => Some('\u{8}'),
            'f' => Some('\u{c}'),
            // Half of a surrogate pair has no character of its own; what we
            // look for (names, paths of our own) never needs one.
            'u' => {
                let (digits, rest) = self.rest.split_at_checked(4)?;
                self.rest = rest;
                let code = u32::from_str_radix(digits, 16).ok()?;
                Some(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_values_are_read() {
        let json = Json::parse(r#" {"a": [1, "x\n\u0041\"", {}], "b": {"c": null}, "d":[]} "#);
        let json = json.expect("it is JSON");
        let a = json.get("a").and_then(Json::list).expect("a list");
        assert_eq!(a[1].text(), Some("x\nA\""));
        assert_eq!(a[2].members(), Some(&[][..]));
        assert_eq!(json.get("b").and_then(|b| b.get("c")), Some(&Json::Other("null".into())));
        assert_eq!(json.get("d").and_then(Json::list), Some(&[][..]));
    }

    #[test]
    fn what_is_not_json_is_refused() {
        for text in ["", "{", "[1,]", "[1 2]", r#"{"a"}"#, r#""\x""#, r#""\u00"#, "nil", "{} {}"] {
            assert_eq!(Json::parse(text), None, "{text}");
        }
    }
}
