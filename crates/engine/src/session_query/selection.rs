//! Registered providers, and which of them a search goes to (contract B, B.8).

use super::chain::Chain;
use super::feeding::Given;
use super::outside::catching;
use super::registration::{Accepted, Registration, Work};
use lookback_model::session_query::{
    ProviderStatus, SearchProvider, SessionQueryError, SessionQueryErrorCode,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// The registry of providers.
#[derive(Default)]
pub(super) struct Providers {
    registry: Arc<Mutex<Registry>>,
}

#[derive(Default)]
struct Registry {
    registered: BTreeMap<String, Arc<Entry>>,
    /// What providers were given that may be registered again: their layers are as they were left.
    remembered: Vec<Remembered>,
}

type Remembered = (Weak<dyn SearchProvider>, Arc<Mutex<Given>>);

/// A registered provider.
pub(super) struct Entry {
    pub(super) id: String,
    pub(super) provider: Arc<dyn SearchProvider>,
    pub(super) chain: Arc<Chain<Given>>,
    work: Arc<Work>,
}

impl Providers {
    pub(super) fn register(
        &self,
        provider: Arc<dyn SearchProvider>,
    ) -> Result<Registration, SessionQueryError> {
        let id = provider.id().to_owned();
        let work = Arc::new(Work::default());
        let mut registry = self.lock();
        if registry.registered.contains_key(&id) {
            let message = format!("a provider {id} is registered already");
            return Err(SessionQueryError::new(
                SessionQueryErrorCode::DuplicateProvider,
                message,
            ));
        }
        let given = registry.given_to(&provider);
        let entry = Entry {
            id: id.clone(),
            provider,
            chain: Chain::new(given),
            work: Arc::clone(&work),
        };
        registry.registered.insert(id.clone(), Arc::new(entry));
        drop(registry);
        let registry = Arc::clone(&self.registry);
        Ok(Registration::new(work, move || {
            let mut registry = registry.lock().unwrap_or_else(PoisonError::into_inner);
            registry.registered.remove(&id);
        }))
    }

    /// The provider that a search goes to, which has accepted it.
    pub(super) fn select(
        &self,
        configured: Option<&str>,
    ) -> Result<(Arc<Entry>, Accepted), SessionQueryError> {
        loop {
            let entry = match configured {
                Some(id) => self.configured(id)?,
                None => self.only_available()?,
            };
            // It may have been unregistered meanwhile; then there is another choice.
            if let Some(accepted) = entry.work.begin() {
                return Ok((entry, accepted));
            }
        }
    }

    /// All that are registered.
    pub(super) fn all(&self) -> Vec<Arc<Entry>> {
        self.lock().registered.values().cloned().collect()
    }

    fn configured(&self, id: &str) -> Result<Arc<Entry>, SessionQueryError> {
        let Some(entry) = self.lock().registered.get(id).cloned() else {
            let message = format!("the configured provider {id} is not registered");
            let code = SessionQueryErrorCode::ProviderConfiguredMissing;
            return Err(SessionQueryError::new(code, message));
        };
        if !entry.is_available()? {
            let message = format!("the configured provider {id} is not available");
            let code = SessionQueryErrorCode::ProviderConfiguredUnavailable;
            return Err(SessionQueryError::new(code, message));
        }
        Ok(entry)
    }

    fn only_available(&self) -> Result<Arc<Entry>, SessionQueryError> {
        let mut available = Vec::new();
        for entry in self.all() {
            if entry.is_available()? {
                available.push(entry);
            }
        }
        let ids: Vec<&str> = available.iter().map(|entry| entry.id.as_str()).collect();
        let ids = ids.join(", ");
        let several = available.len() > 1;
        match available.pop() {
            Some(entry) if !several => Ok(entry),
            Some(_) => {
                let message = format!("several providers are available: {ids}");
                Err(SessionQueryError::new(
                    SessionQueryErrorCode::ProviderAmbiguous,
                    message,
                ))
            }
            None => {
                let message = "no search provider is available";
                Err(SessionQueryError::new(
                    SessionQueryErrorCode::ProviderUnavailable,
                    message,
                ))
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Registry> {
        self.registry.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Registry {
    /// What a provider was given so far.
    fn given_to(&mut self, provider: &Arc<dyn SearchProvider>) -> Arc<Mutex<Given>> {
        self.remembered.retain(|(known, _)| known.strong_count() > 0);
        let same =
            |known: &Weak<dyn SearchProvider>| std::ptr::addr_eq(known.as_ptr(), Arc::as_ptr(provider));
        if let Some((_, given)) = self.remembered.iter().find(|(known, _)| same(known)) {
            return Arc::clone(given);
        }
        let given = Arc::new(Mutex::new(Given::default()));
        self.remembered
            .push((Arc::downgrade(provider), Arc::clone(&given)));
        given
    }
}

impl Entry {
    fn is_available(&self) -> Result<bool, SessionQueryError> {
        let status = catching(|| self.provider.status()).map_err(|panicked| {
            let message = format!("provider {} failed to say whether it is available", self.id);
            SessionQueryError::new(SessionQueryErrorCode::ProviderError, message).caused_by(panicked)
        })?;
        Ok(status == ProviderStatus::Available)
    }
}
