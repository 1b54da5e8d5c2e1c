/** Routes of alert rules. */

export { alertRuleRoutes } from './alert-rules.ts'
