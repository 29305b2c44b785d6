//! What the tabs of one browser share: messages ([`channel`]), locks ([`locks`]), and the right to lead ([`leadership`]).
//!
//! Exactly one tab leads and makes all calls; the others follow. Web Locks decide which, where the browser has them. Pages
//! on plain http have none: there, a lease in `localStorage` decides, which its holder renews every two seconds. The holder of the
//! lock writes the lease, too, because a browser may refuse locks in one tab and not in another.
//!
//! ```text
//!                 lock granted, or no locks          records read
//!   ┌─────────┐   and no lease of another tab   ┌────────────┐        ┌───────┐
//!   │ Follows │ ──────────────────────────────▶ │ Takes over │ ─────▶ │ Leads │
//!   └─────────┘                                 └────────────┘        └───────┘
//!        ▲                                            │                   │
//!        └────────────────────────────────────────────┴───────────────────┘
//!          lease of another tab; frozen; storage fails and another tab can write;
//!          a newer release leads; the program has panicked (the last two: for good)
//! ```
//!
//! [`atelier_engine::lease`] decides on the lease and [`atelier_engine::tab_role`] on the three states; [`crate::runner`] reads the
//! records and sends the messages.

pub mod channel;
pub mod leadership;
mod lease_store;
pub mod locks;
