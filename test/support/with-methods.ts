/** Replaces methods of an object in tests. */

/** Returns an object that has other methods instead of some of its own. */
export function withMethods<Own extends object>(object: Own, others: Partial<Own>): Own {
  return new Proxy(object, { get: (target, name) => {
    const own: unknown = others[name as keyof Own] ?? target[name as keyof Own]
    return typeof own === 'function' ? own.bind(target) : own
  } })
}
