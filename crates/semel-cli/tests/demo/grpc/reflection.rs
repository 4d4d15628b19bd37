//! What tools like grpcurl ask: which services there are, and what a method takes.

use futures_util::{StreamExt, stream};
use prost::Message;
use prost_types::FileDescriptorProto;

use super::{Grpc, start};
use crate::support::{Files, within};

/// Asks one question in each of the protocol's two versions.
macro_rules! reflection {
    ($version:ident) => {
        mod $version {
            use tonic_reflection::pb::$version::ServerReflectionRequest;
            use tonic_reflection::pb::$version::server_reflection_client::ServerReflectionClient;
            use tonic_reflection::pb::$version::server_reflection_request::MessageRequest;
            use tonic_reflection::pb::$version::server_reflection_response::MessageResponse;

            use super::*;

            async fn ask(grpc: &Grpc, question: MessageRequest) -> MessageResponse {
                let request = ServerReflectionRequest {
                    host: String::new(),
                    message_request: Some(question),
                };
                let mut client = ServerReflectionClient::new(grpc.channel.clone());
                let asked = client.server_reflection_info(stream::iter([request]));
                let mut answers = within("reflection", asked).await.unwrap().into_inner();
                let answer = within("an answer", answers.next()).await.unwrap().unwrap();
                answer.message_response.unwrap()
            }

            #[tokio::test]
            async fn all_services_are_listed() {
                let files = Files::new();
                let server = start(&files, &[]).await;
                let question = MessageRequest::ListServices(String::new());
                let answer = ask(&Grpc::of(&server).await, question).await;
                let MessageResponse::ListServicesResponse(list) = answer else { panic!() };
                let names: Vec<_> = list.service.iter().map(|one| one.name.as_str()).collect();
                for name in ["Orders", "Payments", "Executions"] {
                    assert!(names.contains(&format!("semel.demo.v1.{name}").as_str()), "{names:?}");
                }
            }

            #[tokio::test]
            async fn a_method_and_its_messages_are_described() {
                let files = Files::new();
                let server = start(&files, &[]).await;
                let symbol = "semel.demo.v1.Orders.Create".to_owned();
                let question = MessageRequest::FileContainingSymbol(symbol);
                let answer = ask(&Grpc::of(&server).await, question).await;
                let MessageResponse::FileDescriptorResponse(files) = answer else { panic!() };
                let file = &files.file_descriptor_proto[0];
                assert_describes_create(&FileDescriptorProto::decode(&file[..]).unwrap());
            }

            #[tokio::test]
            async fn a_symbol_that_is_not_there_is_an_error() {
                let files = Files::new();
                let server = start(&files, &[]).await;
                let symbol = "semel.demo.v1.Orders.Destroy".to_owned();
                let request = ServerReflectionRequest {
                    host: String::new(),
                    message_request: Some(MessageRequest::FileContainingSymbol(symbol)),
                };
                let mut client = ServerReflectionClient::new(Grpc::of(&server).await.channel);
                let asked = client.server_reflection_info(stream::iter([request]));
                let answers = within("reflection", asked).await;
                let found = match answers {
                    Ok(answers) => within("an answer", answers.into_inner().next()).await,
                    Err(status) => Some(Err(status)),
                };
                assert_eq!(found.unwrap().unwrap_err().code(), tonic::Code::NotFound);
            }
        }
    };
}

fn assert_describes_create(file: &FileDescriptorProto) {
    assert_eq!(file.package(), "semel.demo.v1");
    let orders = file.service.iter().find(|service| service.name() == "Orders").unwrap();
    let create = orders.method.iter().find(|method| method.name() == "Create").unwrap();
    assert_eq!(create.input_type(), ".semel.demo.v1.CreateOrderRequest");
    assert_eq!(create.output_type(), ".semel.demo.v1.Order");
    assert!(!create.client_streaming() && !create.server_streaming());
    let input = file.message_type.iter().find(|message| message.name() == "CreateOrderRequest");
    let fields: Vec<_> = input.unwrap().field.iter().map(|field| field.name()).collect();
    assert_eq!(fields, ["name", "amount"]);
}

reflection!(v1);
reflection!(v1alpha);
