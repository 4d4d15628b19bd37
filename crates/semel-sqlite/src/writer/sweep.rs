//! Removing what has ended.

use semel_core::Key;

use super::call::Operation;
use super::halt::Halt;
use super::tx::Tx;

pub(crate) struct SweepSome {
    pub(crate) limit: usize,
}

impl Operation for SweepSome {
    type Output = usize;

    fn grows(&self) -> bool {
        false
    }

    fn run(&self, tx: &mut Tx<'_>) -> Result<usize, Halt> {
        let now = tx.now();
        let went = tx.sql.sweep(now, self.limit)?;
        if went > 0 {
            tx.mark_changed();
        }
        Ok(went)
    }

    /// What has ended was absent already: nobody is woken for it.
    fn changed(&self, _: &usize) -> Option<&Key> {
        None
    }
}
