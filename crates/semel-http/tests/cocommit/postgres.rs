//! On a PostgreSQL server, in the service's own database.

use crate::support::OnServer;

crate::suite::all_cases!(OnServer);
