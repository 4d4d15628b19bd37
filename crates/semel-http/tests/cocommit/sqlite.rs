//! In one file, beside the service's own tables.

use crate::support::InFile;

crate::suite::all_cases!(InFile);
