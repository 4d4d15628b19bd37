//! `Orders`.

use serde_json::json;
use tonic::{Request, Response, Status};

use super::asked::{account, perform};
use super::proto::orders_server::Orders;
use super::proto::{
    CreateOrderRequest, GetOrderRequest, ListOrdersRequest, ListOrdersResponse, Order,
};
use super::status::of_data;
use crate::commands::demo::data::{self, Database};
use crate::commands::demo::handlers::operation::CREATE_ORDER;
use crate::commands::demo::input;
use crate::commands::demo::problem::Problem;

/// The service.
#[derive(Debug)]
pub(super) struct OrderService {
    pub(super) data: Database,
}

impl From<data::Order> for Order {
    fn from(order: data::Order) -> Self {
        let data::Order { id, name, amount, created_at, tenant, subject } = order;
        Self { id, name, amount, created_at, tenant, subject }
    }
}

#[tonic::async_trait]
impl Orders for OrderService {
    async fn create(
        &self,
        request: Request<CreateOrderRequest>,
    ) -> Result<Response<Order>, Status> {
        let by = perform(&self.data, CREATE_ORDER, &request).await?;
        let CreateOrderRequest { name, amount } = request.into_inner();
        // By the rules that hold through HTTP, in their words.
        let body = json!({ "name": name, "amount": amount }).to_string();
        let order = input::order(body.as_bytes())?;
        let order = self.data.add_order(by, order).await.map_err(of_data)?;
        Ok(Response::new(order.into()))
    }

    async fn get(&self, request: Request<GetOrderRequest>) -> Result<Response<Order>, Status> {
        let by = account(&request)?;
        let id = request.get_ref().id;
        let order = self.data.order(by, id).await.map_err(of_data)?;
        let order = order.ok_or_else(|| Problem::no_order(id))?;
        Ok(Response::new(order.into()))
    }

    async fn list(
        &self,
        request: Request<ListOrdersRequest>,
    ) -> Result<Response<ListOrdersResponse>, Status> {
        let orders = self.data.orders(account(&request)?).await.map_err(of_data)?;
        let orders = orders.into_iter().map(Order::from).collect();
        Ok(Response::new(ListOrdersResponse { orders }))
    }
}
