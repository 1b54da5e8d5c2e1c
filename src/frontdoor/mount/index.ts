/** Addresses at which deployments are served: below `/d/<name>`, and at host names of their own. */

export { DeploymentPorts } from './deployment-ports.ts'
export { bodyTooLarge } from './body-limit.ts'
export { calledAuthority, calledHost } from './host-names.ts'
export { requireEnabled } from './disabled-routes.ts'
export { mountsOver } from './mounts.ts'
export { isDataRoute, isTypedCall } from './data-routes.ts'
export { ownTarget, projectTarget } from './mount-prefix.ts'
export { addProjectHttp, isOfProject } from './project-http.ts'
export type { Mounts } from './mounts.ts'
export { quotasOfTenant } from './use-of-tenant.ts'
export { ServedHosts } from './served-hosts.ts'
export type { MountParts } from './mount-parts.ts'
