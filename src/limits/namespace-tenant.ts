/** Whom the use of a namespace counts for: a tenant has one share, however many deployments. */

/** The tenant of a namespace. Those of deployments are `tenant@name`, and no tenant has an `@`. */
export function tenantOfNamespace(namespace: string): string {
  const at = namespace.indexOf('@')
  return at < 0 ? namespace : namespace.slice(0, at)
}
