//! Kinds of locks, and what may be asked of them.

use std::fmt;

/// What a resource is locked as. All that ask for a resource must ask for the same kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LockKind {
    /// One holder.
    Mutex,
    /// So many holders as its last asker allowed.
    Semaphore(Permits),
    /// Many readers or one writer.
    ReadWrite,
}

impl LockKind {
    /// Whether both are of the same kind. Semaphores are, whatever their number of permits: while
    /// a new number is rolled out, each asker goes by its own.
    #[must_use]
    pub const fn is_same_kind(self, other: Self) -> bool {
        matches!(
            (self, other),
            (Self::Mutex, Self::Mutex)
                | (Self::Semaphore(_), Self::Semaphore(_))
                | (Self::ReadWrite, Self::ReadWrite)
        )
    }
}

impl fmt::Display for LockKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mutex => f.write_str("mutex"),
            Self::Semaphore(permits) => write!(f, "semaphore of {}", permits.get()),
            Self::ReadWrite => f.write_str("read-write lock"),
        }
    }
}

/// How a holder shares with others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    /// With nobody.
    Exclusive,
    /// With others that share.
    Shared,
}

/// How many may hold a semaphore at once: 1 to [`Permits::MOST`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Permits(u16);

impl Permits {
    /// The most permits of a semaphore, and the most readers of a resource: their entry is
    /// rewritten by each of them.
    pub const MOST: u16 = 512;

    /// So many permits.
    ///
    /// # Errors
    ///
    /// [`PermitsError`] for zero and above [`Permits::MOST`].
    pub const fn new(permits: usize) -> Result<Self, PermitsError> {
        if permits == 0 || permits > Self::MOST as usize {
            return Err(PermitsError { permits });
        }
        #[expect(clippy::cast_possible_truncation, reason = "checked just above")]
        Ok(Self(permits as u16))
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> usize {
        self.0 as usize
    }
}

/// A number of permits that no semaphore has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a semaphore has 1 to 512 permits; {permits} were asked for")]
pub struct PermitsError {
    permits: usize,
}

/// What is asked for: a kind of lock, and how it is to be held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Want {
    kind: LockKind,
    mode: Mode,
}

impl Want {
    /// To be the one holder.
    #[must_use]
    pub const fn mutex() -> Self {
        Self { kind: LockKind::Mutex, mode: Mode::Exclusive }
    }

    /// One of so many permits.
    #[must_use]
    pub const fn permit(of: Permits) -> Self {
        Self { kind: LockKind::Semaphore(of), mode: Mode::Shared }
    }

    /// To read beside other readers.
    #[must_use]
    pub const fn read() -> Self {
        Self { kind: LockKind::ReadWrite, mode: Mode::Shared }
    }

    /// To write, alone.
    #[must_use]
    pub const fn write() -> Self {
        Self { kind: LockKind::ReadWrite, mode: Mode::Exclusive }
    }

    /// The kind of lock.
    #[must_use]
    pub const fn kind(self) -> LockKind {
        self.kind
    }

    /// How it is to be held.
    #[must_use]
    pub const fn mode(self) -> Mode {
        self.mode
    }

    /// Whether there is room beside those that are there, or that come first.
    #[must_use]
    pub fn fits(self, others: impl Iterator<Item = Mode>) -> bool {
        let (mut count, mut alone) = (0, false);
        for mode in others {
            count += 1;
            alone |= mode == Mode::Exclusive;
        }
        match (self.kind, self.mode) {
            (LockKind::Semaphore(permits), _) => count < permits.get(),
            (_, Mode::Exclusive) => count == 0,
            (_, Mode::Shared) => !alone && count < usize::from(Permits::MOST),
        }
    }
}
