//! Encryption, by rustls.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};
use semel_core::{Refusal, StoreError, StoreResult};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::target::{Target, Trust};

/// What makes encrypted connections to this server; none where none are wanted.
pub(crate) fn connector(target: &Target) -> StoreResult<Option<MakeRustlsConnect>> {
    let provider = Arc::new(ring::default_provider());
    let verifier: Arc<dyn ServerCertVerifier> = match target.trust {
        Trust::Plain => return Ok(None),
        Trust::Anybody => Arc::new(Anybody(Arc::clone(&provider))),
        Trust::Authority => Arc::new(Authority(verifier(target, &provider)?)),
        Trust::Host => verifier(target, &provider)?,
    };
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| unusable("TLS can't be set up").caused_by(error))?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    Ok(Some(MakeRustlsConnect::new(config)))
}

fn verifier(
    target: &Target,
    provider: &Arc<CryptoProvider>,
) -> StoreResult<Arc<WebPkiServerVerifier>> {
    let roots = match &target.root {
        Some(file) => from_file(file)?,
        None => from_system()?,
    };
    WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
        .build()
        .map_err(|error| unusable("no authority for certificates can be used").caused_by(error))
}

fn from_file(file: &Path) -> StoreResult<RootCertStore> {
    let failed = || unusable(&format!("`sslrootcert`: no certificates in {}", file.display()));
    let mut roots = RootCertStore::empty();
    let all = CertificateDer::pem_file_iter(file).map_err(|error| failed().caused_by(error))?;
    for certificate in all {
        let certificate = certificate.map_err(|error| failed().caused_by(error))?;
        roots.add(certificate).map_err(|error| failed().caused_by(error))?;
    }
    if roots.is_empty() { Err(failed()) } else { Ok(roots) }
}

fn from_system() -> StoreResult<RootCertStore> {
    let mut roots = RootCertStore::empty();
    // Some of a system's certificates may be unreadable; the others do.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        return Err(unusable(
            "the system has no certificates of authorities; name a file in `sslrootcert`",
        ));
    }
    Ok(roots)
}

fn unusable(message: &str) -> StoreError {
    StoreError::refused(Refusal::Unusable, message)
}

// ===== whom to trust =====

/// `prefer` and `require`: who listens in learns nothing; who stands in between does.
struct Anybody(Arc<CryptoProvider>);

/// `verify-ca`: the name in the certificate may be another one.
#[derive(Debug)]
struct Authority(Arc<WebPkiServerVerifier>);

impl fmt::Debug for Anybody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Anybody")
    }
}

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

impl ServerCertVerifier for Authority {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        chain: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        match self.0.verify_server_cert(certificate, chain, name, ocsp, now) {
            // The name is looked at last, when all else was found right.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}
