//! The code and the descriptors of the demo's gRPC face are those that its proto file makes.
//!
//! `SEMEL_WRITE_GENERATED=1 cargo test -p semel-cli --test proto` writes them anew.
#![expect(clippy::unwrap_used, reason = "a test ends where its own material is wrong")]

use std::fs;
use std::path::{Path, PathBuf};

use prost::Message;
use protox::Compiler;

const WRITE: &str = "SEMEL_WRITE_GENERATED=1 cargo test -p semel-cli --test proto";

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("proto").join(name)
}

enum Side {
    Server,
    Client,
}

/// What the proto file makes: name and bytes of each file.
fn generated() -> Vec<(&'static str, Vec<u8>)> {
    let mut compiler = Compiler::new([folder("")]).unwrap();
    compiler.include_imports(true).open_file("semel/demo/v1/orders.proto").unwrap();
    let descriptors = compiler.file_descriptor_set();
    // The code keeps the proto file's comments; the descriptors that reflection serves don't.
    let described = compiler.include_source_info(true).file_descriptor_set();
    vec![
        ("descriptors.bin", descriptors.encode_to_vec()),
        ("server.rs.in", code(described.clone(), &Side::Server)),
        ("client.rs.in", code(described, &Side::Client)),
    ]
}

fn code(set: prost_types::FileDescriptorSet, side: &Side) -> Vec<u8> {
    let out = tempfile::tempdir().unwrap();
    tonic_prost_build::configure()
        .build_server(matches!(side, Side::Server))
        .build_client(matches!(side, Side::Client))
        .build_transport(false)
        .emit_rerun_if_changed(false)
        .out_dir(out.path())
        .compile_fds(set)
        .unwrap();
    fs::read(out.path().join("semel.demo.v1.rs")).unwrap()
}

#[test]
fn what_is_committed_is_what_the_proto_file_makes() {
    for (name, made) in generated() {
        let path = folder("generated").join(name);
        if std::env::var_os("SEMEL_WRITE_GENERATED").is_some() {
            fs::write(&path, &made).unwrap();
        }
        let committed = fs::read(&path).unwrap();
        assert!(
            committed == made,
            "proto/generated/{name} is out of date; this writes it anew: {WRITE}"
        );
    }
}
