//! `Executions`.

use tonic::{Request, Response, Status};

use super::proto::executions_server::Executions;
use super::proto::{Execution, ListExecutionsRequest, ListExecutionsResponse};
use super::status::of_data;
use crate::commands::demo::data::Database;
use crate::commands::demo::handlers::operation;

/// The service.
#[derive(Debug)]
pub(super) struct Meter {
    pub(super) data: Database,
}

#[tonic::async_trait]
impl Executions for Meter {
    async fn list(
        &self,
        _: Request<ListExecutionsRequest>,
    ) -> Result<Response<ListExecutionsResponse>, Status> {
        let counts = self.data.executions().await.map_err(of_data)?;
        let execution = |operation: &'static str| Execution {
            operation: operation.to_owned(),
            count: counts.get(operation).copied().unwrap_or_default(),
        };
        let executions = operation::ALL.into_iter().map(execution).collect();
        Ok(Response::new(ListExecutionsResponse { executions }))
    }
}
