//! Colours, where somebody sees them.

use std::io::{IsTerminal, stdout};

/// What a text says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Good,
    Bad,
    Doubtful,
}

impl Tone {
    const fn code(self) -> &'static str {
        match self {
            Self::Good => "32",
            Self::Bad => "31",
            Self::Doubtful => "33",
        }
    }
}

/// Whether to colour: on a terminal, unless `NO_COLOR` is set to anything or the terminal is dumb.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paint {
    Coloured,
    Plain,
}

impl Paint {
    pub(crate) fn of_stdout() -> Self {
        Self::of(stdout().is_terminal())
    }

    fn of(is_terminal: bool) -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let can = std::env::var_os("TERM").is_some_and(|term| term != "dumb");
        if is_terminal && wanted && can { Self::Coloured } else { Self::Plain }
    }

    pub(crate) fn paint(self, tone: Tone, text: &str) -> String {
        match self {
            Self::Coloured => format!("\x1b[{}m{text}\x1b[0m", tone.code()),
            Self::Plain => text.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_plain_has_no_colour() {
        assert_eq!(Paint::Plain.paint(Tone::Bad, "x"), "x");
        assert_eq!(Paint::Coloured.paint(Tone::Bad, "x"), "\x1b[31mx\x1b[0m");
    }
}
