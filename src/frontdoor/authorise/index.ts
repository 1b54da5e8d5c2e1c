/** Rights of callers: the login of a project is asked before each operation. */

export type { Asking } from './asking.ts'
export { loginOf } from './login-of.ts'
export { cronAdmission } from './cron-run.ts'
export { allowedOperations } from './operations.ts'
export type { AllowedOperations } from './operations.ts'
export { loginFault, refusalOf } from './refusal.ts'
