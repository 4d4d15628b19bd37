//! What the program says of itself.

use crate::support::Bench;

#[tokio::test]
async fn each_command_tells_its_exit_codes() {
    let bench = Bench::new();
    for command in [
        &["lock", "run"][..],
        &["lock", "ls"],
        &["lock", "show"],
        &["lock", "release"],
        &["once"],
        &["key", "ls"],
        &["key", "show"],
        &["key", "resolve"],
        &["key", "forget"],
        &["fence", "check"],
    ] {
        let help = bench.run(command.iter().chain(&["--help"])).await;
        assert_eq!((help.code, help.err.as_str()), (0, ""), "{command:?}");
        assert!(help.out.contains("Exit codes:\n"), "{command:?}: {}", help.out);
        let brief = bench.run(command.iter().chain(&["-h"])).await;
        assert!(brief.out.contains("Exit codes:\n"), "{command:?}: {}", brief.out);
    }
}

#[tokio::test]
async fn the_manual_page_and_the_completions_are_printed_from_the_same_definitions() {
    let bench = Bench::new();
    let page = bench.run(["man"]).await;
    assert!(page.code == 0 && page.out.contains(".SH SEMEL LOCK RUN"), "{}", page.err);
    for shell in ["bash", "zsh", "fish"] {
        let script = bench.run(["completions", shell]).await;
        assert!(script.code == 0 && script.out.contains("kill-after"), "{shell}: {}", script.err);
        assert!(!script.out.contains("__guard"), "{shell}");
    }
    assert_eq!(bench.run(["completions", "tcsh"]).await.code, 64);
}
