//! `Payments`.

use serde_json::json;
use tonic::{Request, Response, Status};

use super::asked::perform;
use super::proto::payments_server::Payments;
use super::proto::{CreatePaymentRequest, Payment};
use super::status::of_data;
use crate::commands::demo::data::{Database, Paid};
use crate::commands::demo::handlers::operation::CREATE_PAYMENT;
use crate::commands::demo::input;

/// The service.
#[derive(Debug)]
pub(super) struct PaymentService {
    pub(super) data: Database,
}

#[tonic::async_trait]
impl Payments for PaymentService {
    async fn create(
        &self,
        request: Request<CreatePaymentRequest>,
    ) -> Result<Response<Payment>, Status> {
        let by = perform(&self.data, CREATE_PAYMENT, &request).await?;
        let CreatePaymentRequest { order, amount } = request.into_inner();
        let body = json!({ "order": order, "amount": amount }).to_string();
        let new = input::payment(body.as_bytes())?;
        match self.data.pay(by, new).await.map_err(of_data)? {
            Paid::Made(made) => Ok(Response::new(Payment {
                id: made.id,
                order: made.order,
                amount: made.amount,
                created_at: made.created_at,
                tenant: made.tenant,
                subject: made.subject,
            })),
            Paid::NoOrder => Err(input::no_such_order().into()),
        }
    }
}
