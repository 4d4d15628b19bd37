//! HTML that is written piece by piece; every text is escaped.

use std::fmt::Write;

/// A page under construction.
#[derive(Debug, Default)]
pub(super) struct Html(String);

impl Html {
    /// Opens an element; `open` is its name with its attributes, written by this program.
    pub(super) fn open(&mut self, open: &'static str) -> &mut Self {
        self.markup(&["<", open, ">"])
    }

    pub(super) fn close(&mut self, name: &'static str) -> &mut Self {
        self.markup(&["</", name, ">\n"])
    }

    /// A text, escaped.
    pub(super) fn text(&mut self, text: &str) -> &mut Self {
        for c in text.chars() {
            match c {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                c => self.0.push(c),
            }
        }
        self
    }

    /// An element that holds a text.
    pub(super) fn element(&mut self, name: &'static str, text: &str) -> &mut Self {
        self.markup(&["<", name, ">"]).text(text).close(name)
    }

    /// Prose, in which what stands between back-ticks is code.
    pub(super) fn prose(&mut self, text: &str) -> &mut Self {
        for (n, part) in text.split('`').enumerate() {
            if n % 2 == 0 {
                self.text(part);
            } else {
                self.markup(&["<code>"]).text(part).markup(&["</code>"]);
            }
        }
        self
    }

    /// A value as people read JSON.
    pub(super) fn json(&mut self, value: &serde_json::Value) -> &mut Self {
        let mut text = String::new();
        // Writing into a String can't fail.
        let _ = write!(text, "{value:#}");
        self.element("pre", &text)
    }

    pub(super) fn finish(self) -> String {
        self.0
    }

    fn markup(&mut self, pieces: &[&str]) -> &mut Self {
        self.0.extend(pieces.iter().copied());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_a_text_holds_it_stays_a_text() {
        let mut html = Html::default();
        let wicked = r#"<script>alert("1")</script> & 'x' `<b>`"#;
        html.open("p").prose(wicked).close("p").element("td", wicked).json(&wicked.into());
        let page = html.finish();
        assert!(!page.contains("<script") && !page.contains("<b>"), "{page}");
        assert!(page.contains("&lt;script&gt;alert(&quot;1&quot;)"), "{page}");
        assert!(page.contains("<code>&lt;b&gt;</code>"), "{page}");
    }
}
