/** Authentication of callers: API keys, logins, and caches that keep the lookups cheap. */

export { JwtVerifier } from './jwt-verifier.ts'
export type { Login, LoginOptions } from './jwt-verifier.ts'
export { keyAdmin } from './key-admin.ts'
export type { KeyAdmin, KeyDetails, KeyRequest } from './key-admin.ts'
export { KeyCache } from './key-cache.ts'
export type { KeyStats } from './key-cache.ts'
export type { KeyTable } from './key-table.ts'
export { RunKeys } from './run-keys.ts'
export { TenantKeys } from './tenant-keys.ts'
export { callerRoles, hashOf, isTenant, keyLookalike, readStoredTenant,
  storedTenant } from './key.ts'
export type { CallerRole, KeyRow } from './key.ts'
