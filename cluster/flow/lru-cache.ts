/**
 * A map that keeps what was used most recently, bounded by number or by size. Give it no `ttl`: it
 * would read a clock of its own, and not that of Env.
 */

export { LRUCache } from 'lru-cache'
