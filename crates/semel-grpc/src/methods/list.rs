//! The list of methods, as it is gathered and as it is used.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use semel::Operation;

use super::OtherMethods;
use super::described::{Described, Shape};

/// How a method's calls are treated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Treatment {
    /// They run once for each key.
    Protect(Operation),
    /// They pass, untouched.
    Pass,
    /// Nobody said.
    Refuse,
}

/// The list as it is gathered.
#[derive(Debug, Clone, Default)]
pub(crate) struct MethodList {
    named: BTreeMap<String, Treatment>,
    protected_services: BTreeSet<String>,
    passed_services: BTreeSet<String>,
    described: Described,
    pub(crate) others: OtherMethods,
}

impl MethodList {
    /// `method` as `package.Service/Method`, with a slash before it or without.
    pub(crate) fn protect(&mut self, method: &str, operation: &str) -> Result<(), String> {
        let operation = Operation::new(operation).map_err(|error| error.to_string())?;
        self.name(method, Treatment::Protect(operation))
    }

    pub(crate) fn pass(&mut self, method: &str) -> Result<(), String> {
        self.name(method, Treatment::Pass)
    }

    fn name(&mut self, method: &str, treatment: Treatment) -> Result<(), String> {
        let name = name_of(method);
        if !is_method(name) {
            return Err(format!("`{method}` is no method; it takes `package.Service/Method`"));
        }
        match self.named.insert(name.to_owned(), treatment.clone()) {
            Some(other) if other != treatment => Err(format!("{name} is named twice")),
            _ => Ok(()),
        }
    }

    pub(crate) fn protect_service(&mut self, service: &str) {
        self.protected_services.insert(service.to_owned());
    }

    pub(crate) fn pass_service(&mut self, service: &str) {
        self.passed_services.insert(service.to_owned());
    }

    pub(crate) fn describe(&mut self, set: &[u8]) -> Result<(), String> {
        let bad = |error| format!("the descriptors can't be read: {error}");
        self.described.add(set).map_err(bad)
    }

    /// Checks the whole list.
    pub(crate) fn build(&self) -> Result<Methods, String> {
        let mut named = self.named.clone();
        for (method, treatment) in &named {
            if matches!(treatment, Treatment::Protect(_)) {
                self.check_unary(method)?;
            }
        }
        for service in &self.protected_services {
            let mut methods = self.described.of_service(service).peekable();
            if methods.peek().is_none() {
                return Err(format!("no descriptor names the service {service}"));
            }
            for (method, shape) in methods {
                if named.contains_key(method) {
                    continue;
                }
                if shape == Shape::Streaming {
                    return Err(streaming(method));
                }
                let operation = Operation::new(method).map_err(|error| error.to_string())?;
                named.insert(method.to_owned(), Treatment::Protect(operation));
            }
        }
        Ok(Methods {
            named: named.into_iter().collect(),
            passed_services: self.passed_services.clone(),
            others: self.others,
        })
    }

    fn check_unary(&self, method: &str) -> Result<(), String> {
        if self.described.is_empty() {
            return Ok(());
        }
        match self.described.shape(method) {
            Some(Shape::Unary) => Ok(()),
            Some(Shape::Streaming) => Err(streaming(method)),
            None => Err(format!("no descriptor names the method {method}")),
        }
    }
}

fn streaming(method: &str) -> String {
    format!(
        "{method} is a streaming method: a stream can't be replayed. Name it with `pass`, and its \
         calls go through as they are"
    )
}

fn is_method(name: &str) -> bool {
    name.split_once('/').is_some_and(|(service, method)| {
        !service.is_empty() && !method.is_empty() && !method.contains('/')
    })
}

/// The name in a path or from a caller.
fn name_of(path: &str) -> &str {
    path.strip_prefix('/').unwrap_or(path)
}

/// The list as it is used.
#[derive(Debug)]
pub(crate) struct Methods {
    named: HashMap<String, Treatment>,
    passed_services: BTreeSet<String>,
    others: OtherMethods,
}

impl Methods {
    /// How calls of the method with this path are treated.
    pub(crate) fn of(&self, path: &str) -> &Treatment {
        let name = name_of(path);
        if let Some(treatment) = self.named.get(name) {
            return treatment;
        }
        let service = name.split_once('/').map_or(name, |(service, _)| service);
        let passes = self.passed_services.contains(service) || self.others == OtherMethods::Pass;
        if passes { &Treatment::Pass } else { &Treatment::Refuse }
    }
}

#[cfg(test)]
mod tests {
    use prost::Message;
    use prost_types::{
        FileDescriptorProto, FileDescriptorSet, MethodDescriptorProto, ServiceDescriptorProto,
    };

    use super::*;

    fn shop() -> Vec<u8> {
        let method = |name: &str, streams| MethodDescriptorProto {
            name: Some(name.to_owned()),
            server_streaming: Some(streams),
            ..Default::default()
        };
        let service = ServiceDescriptorProto {
            name: Some("Orders".to_owned()),
            method: vec![method("Create", false), method("Watch", true)],
            ..Default::default()
        };
        let file = FileDescriptorProto {
            package: Some("shop".to_owned()),
            service: vec![service],
            ..Default::default()
        };
        FileDescriptorSet { file: vec![file] }.encode_to_vec()
    }

    fn described() -> MethodList {
        let mut list = MethodList::default();
        list.describe(&shop()).unwrap();
        list
    }

    fn protected(name: &str) -> Treatment {
        Treatment::Protect(Operation::new(name).unwrap())
    }

    #[test]
    fn a_streaming_method_is_refused_by_name_unless_it_is_passed_through() {
        let mut list = described();
        list.protect_service("shop.Orders");
        let error = list.build().unwrap_err();
        assert!(error.starts_with("shop.Orders/Watch is a streaming method"), "{error}");
        list.pass("/shop.Orders/Watch").unwrap();
        let methods = list.build().unwrap();
        assert_eq!(methods.of("/shop.Orders/Create"), &protected("shop.Orders/Create"));
        assert_eq!(methods.of("/shop.Orders/Watch"), &Treatment::Pass);

        let mut list = described();
        list.protect("shop.Orders/Watch", "watch").unwrap();
        assert!(list.build().unwrap_err().starts_with("shop.Orders/Watch is a streaming"));
    }

    #[test]
    fn names_that_the_descriptors_do_not_have_are_refused() {
        let mut list = described();
        list.protect("shop.Orders/Make", "make").unwrap();
        assert_eq!(list.build().unwrap_err(), "no descriptor names the method shop.Orders/Make");
        let mut list = described();
        list.protect_service("shop.Payments");
        assert_eq!(list.build().unwrap_err(), "no descriptor names the service shop.Payments");
        assert!(MethodList::default().describe(b"\xff").is_err());
    }

    #[test]
    fn a_method_that_nobody_named_is_refused_or_passes_as_was_chosen() {
        let mut list = MethodList::default();
        list.protect("/shop.Orders/Create", "orders.create").unwrap();
        list.pass_service("grpc.health.v1.Health");
        let methods = list.build().unwrap();
        assert_eq!(methods.of("/shop.Orders/Create"), &protected("orders.create"));
        assert_eq!(methods.of("/grpc.health.v1.Health/Check"), &Treatment::Pass);
        assert_eq!(methods.of("/shop.Orders/Other"), &Treatment::Refuse);
        assert_eq!(methods.of("/"), &Treatment::Refuse);
        list.others = OtherMethods::Pass;
        assert_eq!(list.build().unwrap().of("/shop.Orders/Other"), &Treatment::Pass);
    }

    #[test]
    fn a_name_that_is_no_method_or_has_two_meanings_is_refused() {
        let mut list = MethodList::default();
        for name in ["", "/", "Create", "/shop.Orders/", "/shop.Orders/Create/x", "//x"] {
            assert!(list.pass(name).is_err(), "{name}");
        }
        list.pass("shop.Orders/Create").unwrap();
        list.pass("/shop.Orders/Create").unwrap();
        assert!(list.protect("shop.Orders/Create", "x").is_err());
    }
}
