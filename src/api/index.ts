/** The contract of the API: every operation, and the records in requests and answers. */

export { createChart, createSection, deleteChart, deleteSection, listSections, patchChart,
  patchSection, previewChart, readChart, readDashboards, readProjectDashboard,
  readSection } from './charts.ts'
export type { Chart, ChartBody, ChartFilters, ChartPoint, ChartSection, ChartSeries,
  ChartWindowBody, Dashboard, SectionBody } from './charts.ts'
export { getCluster, streamCluster } from './cluster.ts'
export type { Cluster } from './cluster.ts'
export { createEvaluator, deleteEvaluator, deleteEvaluators, getEvaluator, listEvaluators,
  patchEvaluator } from './evaluators.ts'
export type { Evaluator, EvaluatorBody, LlmEvaluator } from './evaluators.ts'
export { Json, JsonObject, Limit, Nullable, Offset, OneOf, SomeOf, Uuid, wholeMax } from './json.ts'
export { createKey, listKeys, revokeKey } from './keys.ts'
export type { ApiKey, KeyBody } from './keys.ts'
export { getLimits, listRefusedCallers } from './limits.ts'
export type { LimitReport, LimitRow, RefusedCallers } from './limits.ts'
export type { Access, Answer, Body, Operation, Params, Query, Value } from './operation.ts'
export { operations } from './operations.ts'
export type { Answered, Asked, NamedOperation, Route } from './operations.ts'
export { createRule, deleteRule, getRule, listRules, patchRule, readRuleLog, readRuleState,
  RuleFields, triggerRule, triggerRules, tryJudge } from './rules.ts'
export type { Rule, RuleAlert, RuleBody, RuleEvaluator, RuleLine, RuleSpendLimit, RuleState,
  RuleVerdict, RuleWebhook } from './rules.ts'
