//! Which methods are protected.

use http::Method;

/// The methods that are protected. Others pass through untouched, key or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Methods {
    /// These.
    Only(Vec<Method>),
    /// Every method.
    All,
}

impl Methods {
    /// Whether this method is protected.
    #[must_use]
    pub fn contains(&self, method: &Method) -> bool {
        match self {
            Self::Only(methods) => methods.contains(method),
            Self::All => true,
        }
    }
}

impl Default for Methods {
    /// POST, PATCH and PUT.
    fn default() -> Self {
        Self::Only(vec![Method::POST, Method::PATCH, Method::PUT])
    }
}
