/** Who may call: API keys, logins, and what keeps the lookups cheap. */

export { SessionBook } from './jwt-verifier.ts'
export type { Session, SessionOptions } from './jwt-verifier.ts'
export { keyDesk } from './key-admin.ts'
export type { KeyDesk, KeyFacts, KeyWish } from './key-admin.ts'
export { KeyBook } from './key-cache.ts'
export type { KeyStats } from './key-cache.ts'
export type { KeyTable } from './key-table.ts'
export { callerRoles, hashOf, isTenant, keyLookalike } from './key.ts'
export type { CallerRole, KeyRow } from './key.ts'
