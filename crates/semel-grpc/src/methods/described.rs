//! What a set of descriptors says of methods.

use std::collections::BTreeMap;

use prost::Message;
use prost_types::FileDescriptorSet;

/// How a method's messages go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Unary,
    Streaming,
}

/// Methods by name, `package.Service/Method`.
#[derive(Debug, Clone, Default)]
pub(super) struct Described {
    methods: BTreeMap<String, Shape>,
}

impl Described {
    /// Adds the methods of an encoded `google.protobuf.FileDescriptorSet`.
    pub(super) fn add(&mut self, set: &[u8]) -> Result<(), prost::DecodeError> {
        for file in FileDescriptorSet::decode(set)?.file {
            let package = file.package();
            let prefix = if package.is_empty() { String::new() } else { format!("{package}.") };
            for service in &file.service {
                for method in &service.method {
                    let is_streaming = method.client_streaming() || method.server_streaming();
                    let shape = if is_streaming { Shape::Streaming } else { Shape::Unary };
                    let name = format!("{prefix}{}/{}", service.name(), method.name());
                    self.methods.insert(name, shape);
                }
            }
        }
        Ok(())
    }

    /// None for a method that no descriptor names.
    pub(super) fn shape(&self, method: &str) -> Option<Shape> {
        self.methods.get(method).copied()
    }

    /// The methods of a service.
    pub(super) fn of_service(&self, service: &str) -> impl Iterator<Item = (&str, Shape)> {
        let methods = self.methods.iter();
        methods.filter_map(move |(name, shape)| {
            let (of, _) = name.split_once('/')?;
            (of == service).then_some((name.as_str(), *shape))
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.methods.is_empty()
    }
}
