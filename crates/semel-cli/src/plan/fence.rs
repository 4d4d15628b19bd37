//! The plan of `semel fence`.

use semel::core::Fence;
use semel::{Key, StoreGate};

use super::StorePlan;
use crate::args::{FenceArgs, FenceCheckArgs, FenceCommand};
use crate::exit::{Exit, Stop};
use crate::output::Form;

/// Everything that `semel fence check` needs to know.
#[derive(Debug)]
pub(crate) struct FencePlan {
    pub(crate) resource: String,
    pub(crate) key: Key,
    pub(crate) fence: Fence,
    pub(crate) form: Form,
    pub(crate) store: StorePlan,
}

impl FencePlan {
    pub(crate) fn resolve(args: FenceArgs) -> Result<Self, Stop> {
        let FenceCommand::Check(FenceCheckArgs { resource, fence, json, store }) = args.command;
        let key = StoreGate::key(&resource)
            .map_err(|error| Stop::new(Exit::Usage, "RESOURCE is refused", error))?;
        Ok(Self {
            key,
            fence: fence.parse().map_err(|error| Stop::flag("FENCE", &fence, error))?,
            form: Form::of(json),
            store: StorePlan::resolve(store)?,
            resource,
        })
    }
}
