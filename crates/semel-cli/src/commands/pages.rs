//! What this program says of itself: the manual page and the completions.

use std::io::Write;

use clap::{Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;

use crate::args::Args;
use crate::exit::{Exit, Stop};
use crate::output;

/// The manual page, of all commands, from the same definitions as `--help`.
pub(super) fn man() -> Result<(), Stop> {
    let mut page = Vec::new();
    render(&mut page).map_err(|error| Stop::plain(Exit::Io, format_args!("semel: {error}")))?;
    output::bytes(&page);
    Ok(())
}

pub(super) fn completions(shell: Shell) -> Result<(), Stop> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "semel", &mut script);
    output::bytes(&script);
    Ok(())
}

/// One page: what stands under each command becomes a part of it.
fn render(page: &mut Vec<u8>) -> std::io::Result<()> {
    let mut all = Args::command();
    all.build();
    let top = Man::new(all.clone());
    top.render_title(page)?;
    top.render_name_section(page)?;
    top.render_synopsis_section(page)?;
    top.render_description_section(page)?;
    for command in leaves(&all) {
        writeln!(page, ".SH {}", command.get_bin_name().unwrap_or_default().to_uppercase())?;
        let part = Man::new(command.clone());
        let mut text = Vec::new();
        part.render_synopsis_section(&mut text)?;
        part.render_description_section(&mut text)?;
        part.render_options_section(&mut text)?;
        part.render_extra_section(&mut text)?;
        page.extend(String::from_utf8_lossy(&text).replace(".SH ", ".SS ").into_bytes());
    }
    top.render_extra_section(page)?;
    page.extend_from_slice(FILES.as_bytes());
    top.render_version_section(page)
}

/// The commands that do something, in order.
fn leaves(command: &Command) -> Vec<&Command> {
    let mut found = Vec::new();
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
        let below = leaves(sub);
        if below.is_empty() { found.push(sub) } else { found.extend(below) }
    }
    found
}

const FILES: &str = r"
.SH FILES
.TP
\fI$XDG_STATE_HOME/semel/semel.db\fR, else \fI~/.local/state/semel/semel.db\fR
The store of locks and keys where none is named (on macOS
\fI~/Library/Application Support/semel/semel.db\fR). It is made when it is first needed, and nobody
else can read it. Jobs of several users take a store that all of them can reach.
.SH ENVIRONMENT
.TP
SEMEL_STORE
The store, as \-\-store.
.TP
SEMEL_LOCK_RESOURCE, SEMEL_LOCK_TOKEN, SEMEL_LOCK_FENCE
What a command under a lock finds: the lock's name, the proof that it is its holder, and the number
of this grant, which is higher than that of any grant before.
.TP
RUST_LOG
What is logged to stderr, such as \fIerror\fR or \fIsemel=debug\fR.
.TP
NO_COLOR
If it is set to anything, nothing is coloured.
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_every_command_its_flags_and_its_exit_codes() {
        let mut page = Vec::new();
        render(&mut page).unwrap();
        let page = String::from_utf8(page).unwrap();
        let mut all = Args::command();
        all.build();
        for command in leaves(&all) {
            let name = command.get_bin_name().unwrap().to_uppercase();
            assert!(page.contains(&format!(".SH {name}\n")), "{name} is missing");
            for flag in command.get_arguments().filter_map(clap::Arg::get_long) {
                assert!(page.contains(&flag.replace('-', "\\-")), "--{flag} is missing");
            }
        }
        assert_eq!(page.matches(".SH EXTRA").count(), 1, "{page}");
        assert!(page.contains("Exit codes"));
    }
}
