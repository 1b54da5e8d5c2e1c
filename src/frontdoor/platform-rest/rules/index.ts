/** Routes of rules and of the evaluators that they name. */

export { evaluatorRoutes } from './evaluators.ts'
export { ruleRoutes } from './rules.ts'
