/** Credential of this page: the key or session token of its calls, and requests for one. */

import { useSyncExternalStore } from 'react'

/** A credential as it was typed in. */
export interface Credential {
  readonly kind: 'key' | 'session'
  readonly text: string
}

/** State of the credential: a request for one, and a session that an address offered. */
export interface SessionState {
  /** A session that an address brought along, while another credential is in use. */
  readonly offered: Credential | null
  /** The server's words that ask for a credential; null if none is asked for. */
  readonly needed: string | null
  /** The server of the region that knows the credential; null if this is the one to ask. */
  readonly elsewhere: string | null
}

const storageKey = 'studio.credential'
let credential = readCredential()
/** True once calls without a credential were refused: the login of a project may let pages in. */
let isDeveloperPage = false
const nothingNeeded: SessionState = { offered: null, needed: null, elsewhere: null }
let state = nothingNeeded
const listeners = new Set<() => void>()

/** The headers that say who calls. */
export function credentials(): Record<string, string> {
  if (credential === undefined) return isDeveloperPage ? { 'x-auth-scheme': 'langsmith' } : {}
  return credential.kind === 'key'
    ? { 'x-api-key': credential.text }
    : { authorization: `Bearer ${credential.text}` }
}

/**
 * Calls without a credential come from the page of developers from now on. A project may let it in
 * on its own machine by `disable_studio_auth: false`.
 */
export function callAsDeveloperPage(): void {
  isDeveloperPage = true
}

/** True if calls carry a credential. */
export const isSignedIn = (): boolean => credential !== undefined

/** Uses a credential from now on. It is kept for this tab, or on this machine if so wished. */
export function signIn(given: Credential, remember: boolean): void {
  signOut()
  credential = given
  try {
    const storage = remember ? localStorage : sessionStorage
    storage.setItem(storageKey, JSON.stringify(given))
  } catch {
    // Without storage it lives as long as the page.
  }
  set(nothingNeeded)
}

/** Forgets the credential, also where the browser stores it. */
export function signOut(): void {
  credential = undefined
  for (const storage of storages()) storage.removeItem(storageKey)
}

/** A call was refused because it had no good credential, or one of another region. */
export function signInNeeded(reason: string, elsewhere: string | null = null): void {
  if (state.needed !== reason) set({ ...state, needed: reason, elsewhere })
}

/** Follows the requests for a credential as they change. */
export function useSession(): SessionState {
  return useSyncExternalStore((listener) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }, () => state)
}

/**
 * Takes the session that a portal passed in the address, and removes it from there at once. Anybody
 * can make such an address, so another credential is replaced only when the person says so.
 */
export function takeSessionFromAddress(): void {
  const token = new URLSearchParams(location.hash.slice(1)).get('session')
  if (token === null) return
  history.replaceState(null, '', location.pathname + location.search)
  const given: Credential = { kind: 'session', text: token }
  if (credential === undefined) signIn(given, false)
  else if (credential.text !== token) set({ ...state, offered: given })
}

/** The person stays with the credential that is in use. */
export function declineOffer(): void {
  set({ ...state, offered: null })
}

function set(next: SessionState): void {
  state = next
  for (const listener of listeners) listener()
}

function readCredential(): Credential | undefined {
  for (const storage of storages()) {
    const text = storage.getItem(storageKey)
    if (text === null) continue
    try {
      return JSON.parse(text) as Credential
    } catch {
      storage.removeItem(storageKey)
    }
  }
  return undefined
}

/** Browsers may refuse storage altogether. */
function storages(): readonly Storage[] {
  try {
    return [sessionStorage, localStorage]
  } catch {
    return []
  }
}
