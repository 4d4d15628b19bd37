//! A lock, as the supervisor of a command sees it.

use std::time::Duration;

use semel::{ForceHow, LockGuard, LockLoss};

use crate::child::{Gone, Tenure};

/// What a command runs under.
pub(super) struct Under<'a>(pub(super) &'a LockGuard);

impl Tenure for Under<'_> {
    fn remaining(&self) -> Option<Duration> {
        Some(self.0.remaining())
    }

    async fn lost(&self) -> Gone {
        let loss = self.0.lost().await;
        // Whoever was told to stop has it until its lease ends; whoever finds another there, or
        // nothing at all, has no time left, nor has one whose lock was freed at once.
        let revoked = matches!(loss, LockLoss::ForceReleased { how: ForceHow::Revoke, .. });
        let now = !revoked && loss != LockLoss::MaxHold;
        Gone::Lost { why: loss.to_string(), now }
    }
}
