/** Namespaces: what the rows, actors and indexes of a deployment are keyed with. */

/** The tenant whose data it is, and the deployment; null for the server's own project. */
export interface NamespaceParts {
  readonly tenant: string
  readonly deployment: string | null
}

/** The tenant of the records of all deployments. No caller has it. */
export const deploymentsTenant = '@'

/** A DNS label that is no number: names of deployments are parts of host names. */
const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/** True for a name that a deployment may have: a DNS label in lower case. */
export function isDeploymentName(name: string): boolean {
  return label.test(name) && !/^\d+$/.test(name)
}

/** The namespace of a tenant's data in a deployment. */
export function namespaceOf({ tenant, deployment }: NamespaceParts): string {
  return deployment === null ? tenant : `${tenant}@${deployment}`
}

/** The parts of a namespace. A tenant has no `@`. */
export function namespaceParts(namespace: string): NamespaceParts {
  const at = namespace.indexOf('@')
  return at === -1
    ? { tenant: namespace, deployment: null }
    : { tenant: namespace.slice(0, at), deployment: namespace.slice(at + 1) }
}
