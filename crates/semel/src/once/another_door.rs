//! What a door says about an answer that is not in its own form.

use semel_core::{Extent, Form, Operation, Outcome};

use super::call::Call;
use crate::problem::ProblemKind;

const THROUGH: &str = " (through another door)";

impl Call {
    /// For doors: why this outcome, which is not in the door's own form, is not given out. All
    /// doors say the same:
    ///
    /// * another door recorded it, for this same operation: [`ProblemKind::KeyReused`], with
    ///   `(through another door)` behind the recorded operation's name;
    /// * somebody settled the call by hand, without an answer ([`Form::Bytes`], kept in part): it is
    ///   no door's, and [`ProblemKind::ResponseUnavailable`];
    /// * its form is that of a version that is newer ([`Form::Other`]): whose door it is can't be
    ///   told, and it is [`ProblemKind::ResponseUnavailable`] too.
    ///
    /// In no case may the work run again. A door that can say the other's answer in its own form
    /// does that before it asks here.
    #[must_use]
    pub fn of_another_door(&self, outcome: &Outcome) -> ProblemKind {
        match (outcome.form, outcome.extent) {
            (Form::Other(_), _) | (Form::Bytes, Extent::Partial) => {
                ProblemKind::ResponseUnavailable
            }
            _ => ProblemKind::KeyReused {
                operation: self.operation.clone(),
                recorded: through_another_door(&self.operation),
            },
        }
    }
}

/// The operation's name as that of another one's; of a name at its limit, as much as has room.
fn through_another_door(operation: &Operation) -> Operation {
    let name = operation.as_str();
    let room = name.floor_char_boundary(Operation::MAX_BYTES - THROUGH.len());
    Operation::new([&name[..room], THROUGH].concat()).unwrap_or_else(|_| operation.clone())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bytes::Bytes;
    use semel_core::Scope;

    use super::*;
    use crate::policy::Policy;

    fn told(name: &str, form: Form, extent: Extent) -> ProblemKind {
        let policy = Arc::new(Policy::builder().build().unwrap());
        let operation = Operation::new(name).unwrap();
        let call = Call::new(&policy, &Scope::anonymous(), "k", operation).unwrap();
        call.of_another_door(&Outcome { form, extent, payload: Bytes::new() })
    }

    fn recorded(name: &str) -> String {
        let kind = told(name, Form::Http, Extent::Whole);
        let ProblemKind::KeyReused { operation, recorded } = kind else { panic!("{kind:?}") };
        assert_eq!(operation.as_str(), name);
        recorded.as_str().to_owned()
    }

    #[test]
    fn an_answer_of_another_door_is_told_as_such_whether_it_was_kept_or_not() {
        for form in [Form::Value, Form::Error, Form::Http, Form::Grpc, Form::Mcp] {
            for extent in [Extent::Whole, Extent::Partial] {
                let kind = told("charge", form, extent);
                assert!(matches!(kind, ProblemKind::KeyReused { .. }), "{form:?}: {kind:?}");
            }
        }
        assert_eq!(recorded("charge"), "charge (through another door)");
    }

    #[test]
    fn what_was_settled_by_hand_is_no_doors() {
        let settled = told("charge", Form::Bytes, Extent::Partial);
        assert_eq!(settled, ProblemKind::ResponseUnavailable);
        let function = told("charge", Form::Bytes, Extent::Whole);
        assert!(matches!(function, ProblemKind::KeyReused { .. }), "{function:?}");
    }

    /// The recorded name never equals the one that was asked for: nobody is told that a key of an
    /// operation is another operation's, and both have one name.
    #[test]
    fn a_name_at_its_limit_gives_way() {
        for name in ["n".repeat(Operation::MAX_BYTES), "筆".repeat(Operation::MAX_BYTES / 3)] {
            let recorded = recorded(&name);
            assert!(recorded.ends_with(THROUGH), "{recorded}");
            assert!(name.starts_with(recorded.trim_end_matches(THROUGH)), "{recorded}");
            assert!(recorded.len() > Operation::MAX_BYTES - 3, "{}", recorded.len());
        }
    }
}
