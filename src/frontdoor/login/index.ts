/** Callers as the login of a project knows them. */

export { calledIssuers, issuersIn } from './issuers.ts'
export { ProjectLogins } from './project-login.ts'
export type { CalledLogin, LoginOf } from './project-login.ts'
