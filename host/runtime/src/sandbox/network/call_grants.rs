//! Grants that a user has given for one call.

use dormouse_policy::HttpGrant;
use tokio_util::sync::CancellationToken;

/// Grants of HTTP requests for one call, and the end of that call, which ends these requests.
#[derive(Clone, Default)]
pub(super) struct CallGrants {
    pub(super) granted: Vec<HttpGrant>,
    pub(super) end: CancellationToken,
}
