//! The features that connect the tabs of one browser: messages ([`channel`]), locks ([`locks`]), and the right to lead ([`leadership`]).
//!
//! Exactly one tab leads and makes all calls; the others follow. Web Locks decide which one leads, if the browser provides
//! them. Pages on plain http have no locks: there, a lease in `localStorage` decides, which its holder renews every two
//! seconds. The holder of the lock also writes the lease, because a browser may refuse locks in one tab and not in another.
//!
//! ```text
//!                 lock granted, or no locks          records read
//!   ┌─────────┐   and no lease of another tab   ┌────────────┐        ┌───────┐
//!   │ Follows │ ──────────────────────────────▶ │ Takes over │ ─────▶ │ Leads │
//!   └─────────┘                                 └────────────┘        └───────┘
//!        ▲                                            │                   │
//!        └────────────────────────────────────────────┴───────────────────┘
//!          lease of another tab; frozen; storage fails and another tab can write;
//!          a newer release leads; the program has panicked (the last two: permanently)
//! ```
//!
//! [`atelier_engine::lease`] decides on the lease and [`atelier_engine::tab_role`] on the three states; [`crate::runner`] reads the
//! records and sends the messages.

pub mod channel;
pub mod leadership;
mod lease_store;
pub mod locks;
