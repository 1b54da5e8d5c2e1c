/** Every route of the platform, called with the ids of somebody's traces and records. */

import { datasetCases } from './dataset-cases.ts'
import type { DatasetBelongings } from './dataset-cases.ts'
import { promptCases } from './prompt-cases.ts'
import type { PromptBelongings } from './prompt-cases.ts'
import { queueCases, shareCases } from './share-cases.ts'

/** What a tenant has: ids that others may know, and must get nothing for. */
export interface Belongings extends PromptBelongings, DatasetBelongings {
  readonly project: string
  readonly projectName: string
  readonly trace: string
  readonly child: string
  readonly thread: string
  readonly feedback: string
  readonly feedbackKey: string
  readonly chart: string
  readonly section: string
  readonly view: string
  readonly rule: string
  readonly alert: string
  readonly evaluator: string
  /** An annotation queue, and the item of the trace in it. */
  readonly queue: string
  readonly item: string
  readonly secret: string
  readonly model: string
  readonly price: string
  /** A deletion of traces that has ended. */
  readonly deletion: string
  /** An experiment that went on by itself, and has ended. */
  readonly trial: string
}

/** A call of one route. */
export interface Case {
  /** The route as the code has it, below the root. */
  readonly route: string
  readonly path: string
  readonly body?: unknown
  /** Of the body; by default it is JSON. */
  readonly type?: string
  /**
   * Who may call: everybody, everybody if the owner shows it, whoever may read, or whoever may
   * change something.
   */
  readonly access: 'public' | 'shown' | 'read' | 'change'
}

const window = { start_time: '2026-01-01T00:00:00Z', end_time: '2026-01-02T00:00:00Z' }

/** An alert rule that calls nobody who is there. */
export function alertRule(name: string) {
  return {
    rule: { name, description: name, type: 'threshold', attribute: 'error_count',
      aggregation: 'sum', operator: 'gt', threshold: 1e6, window_minutes: 5 },
    actions: [{ target: 'webhook', config: { url: 'https://alerts.invalid/' } }],
  }
}

/** A case of each route. Those that remove something are last. */
export function casesOf(theirs: Belongings): readonly Case[] {
  const { project, projectName, trace, child, thread, feedback, feedbackKey, chart, section, view,
    rule, alert, evaluator, secret, model, price, dataset, deletion, trial } = theirs
  const messages = [{ role: 'user', content: 'Hi' }]
  const tiny = { dialect: 'openai', base_url: 'https://model.invalid/v1', model: 'm', secret }
  const cost = { match_pattern: 'm', prompt_cost: 1, completion_cost: 2 }
  const series = { name: 's', metric: 'run_count', filters: { session: [project] } }
  const span = { id: child, trace_id: trace, name: 'taken', run_type: 'chain', session_id: project,
    dotted_order: `20261126T200000000000Z${trace}.20261126T200000000001Z${child}` }
  const read = (route: string, path: string, body?: unknown): Case => ({ route, path, body,
    access: 'read' })
  const change = (route: string, path: string, body?: unknown): Case => ({ route, path, body,
    access: 'change' })
  const open = (route: string, path: string, body?: unknown): Case => ({ route, path, body,
    access: 'public' })
  return [
    ...shareCases(theirs),
    ...queueCases(theirs),
    ...datasetCases(theirs),
    read('POST /runs/query', '/api/v1/runs/query', { session: [project] }),
    read('POST /runs/query', '/api/v1/runs/query', { trace }),
    read('POST /runs/query', '/api/v1/runs/query', { id: [trace, child] }),
    read('POST /runs/query', '/api/v1/runs/query', { parent_run: trace }),
    read('POST /runs/export', '/api/v1/runs/export', { session: [project] }),
    read('POST /runs/export', '/api/v1/runs/export', { trace, format: 'otlp' }),
    read('POST /sql/query', '/api/v2/sql/query', { project_ids: [project],
      query: 'SELECT * FROM runs' }),
    read('POST /runs/query/validate', '/api/v1/runs/query/validate', { filter: 'eq(name, 1)' }),
    read('GET /runs/:id', `/api/v1/runs/${trace}`),
    read('POST /runs/stats', '/api/v1/runs/stats', { session: [project] }),
    read('POST /runs/stats', '/api/v1/runs/stats', { trace }),
    read('POST /runs/group', '/api/v1/runs/group', { session_id: project,
      group_by: 'conversation' }),
    read('POST /runs/group/stats', '/api/v1/runs/group/stats', { session_id: project,
      group_by: 'conversation' }),
    read('POST /runs/query', '/api/v2/runs/query', { project_ids: [project] }),
    read('POST /runs/query', '/api/v2/runs/query', { ids: [trace], project_ids: [project] }),
    read('POST /traces/query', '/api/v2/traces/query', { project_id: project }),
    read('POST /threads/query', '/api/v2/threads/query', { project_id: project }),
    read('GET /traces/:id/runs', `/api/v2/traces/${trace}/runs?project_id=${project}`),
    read('GET /threads/:id/traces', `/api/v2/threads/${thread}/traces?project_id=${project}`),
    read('POST /threads/stats', '/api/v2/threads/stats', { project_id: project,
      select: ['RUN_COUNT'] }),
    read('GET /threads/:id/stats', `/api/v2/threads/${thread}/stats?session_id=${project}` +
      '&selects=RUN_COUNT'),
    read('GET /runs/:id', `/api/v2/runs/${trace}?project_id=${project}`),
    read('GET /runs/:id/url', `/api/v2/runs/${trace}/url?project_id=${project}`),
    read('GET /sessions', `/api/v1/sessions?name=${projectName}&include_stats=true`),
    read('GET /sessions', '/api/v1/sessions'),
    read('GET /sessions', `/api/v2/sessions?id=${project}`),
    read('GET /sessions/:id', `/api/v1/sessions/${project}?include_stats=true`),
    read('GET /sessions/resolutions', `/api/v1/sessions/resolutions?kind=AGENT&id=${projectName}`),
    read('POST /sessions/:id/dashboard', `/api/v1/sessions/${project}/dashboard`, window),
    read('GET /sessions/:id/views', `/api/v1/sessions/${project}/views`),
    read('GET /sessions/:id/views/:view', `/api/v1/sessions/${project}/views/${view}`),
    read('GET /feedback', `/api/v1/feedback?run=${trace}&session=${project}`),
    read('GET /feedback', `/api/v1/feedback?key=${feedbackKey}`),
    read('GET /feedback/:id', `/api/v1/feedback/${feedback}`),
    read('GET /feedback/tokens', `/api/v1/feedback/tokens?run_id=${trace}`),
    read('GET /feedback-configs', `/api/v1/feedback-configs?key=${feedbackKey}`),
    read('POST /charts', '/api/v1/charts', window),
    read('POST /charts/:id', `/api/v1/charts/${chart}`, window),
    read('POST /charts/preview', '/api/v1/charts/preview', { bucket_info: window,
      chart: { series: [series] } }),
    read('GET /charts/section', '/api/v1/charts/section'),
    read('POST /charts/section/:id', `/api/v1/charts/section/${section}`, window),
    read('GET /runs/rules', '/api/v1/runs/rules'),
    read('GET /runs/rules', `/api/v1/runs/rules?session_id=${project}`),
    read('GET /runs/rules/:id', `/api/v1/runs/rules/${rule}`),
    read('GET /runs/rules/:id/logs', `/api/v1/runs/rules/${rule}/logs`),
    read('GET /runs/rules/:id/last_applied', `/api/v1/runs/rules/${rule}/last_applied`),
    read('GET /platform/alerts/:session', `/api/v1/platform/alerts/${project}`),
    read('GET /platform/alerts/:session/:rule', `/api/v1/platform/alerts/${project}/${alert}`),
    read('GET /platform/evaluators', '/api/v1/platform/evaluators'),
    read('GET /platform/evaluators/:id', `/api/v1/platform/evaluators/${evaluator}`),
    read('GET /workspaces/current/secrets', '/api/v1/workspaces/current/secrets'),
    read('GET /playground-settings', '/api/v1/playground-settings'),
    read('GET /playground-settings/local', '/api/v1/playground-settings/local'),
    read('GET /model-price-map', '/api/v1/model-price-map'),
    read('GET /model-price-map/usual', '/api/v1/model-price-map/usual'),
    read('GET /bulk-deletions', '/api/v1/bulk-deletions'),
    read('GET /bulk-deletions/:id', `/api/v1/bulk-deletions/${deletion}`),
    read('GET /experiments', `/api/v1/experiments?dataset=${dataset}`),
    read('GET /experiments/:id', `/api/v1/experiments/${trial}`),
    read('POST /auth', '/api/v1/auth'),
    read('GET /auth/public', '/api/v1/auth/public'),
    read('GET /generate', '/generate'),
    read('POST /generate', '/api/v1/generate', {}),
    open('GET /beacon', '/v1/beacon'),
    open('POST /beacon', '/v1/beacon', {}),
    change('POST /runs', '/api/v1/runs', { ...span, dotted_order: undefined }),
    change('POST /runs/batch', '/api/v1/runs/batch', { post: [span], patch: [span] }),
    change('POST /runs/batch', '/api/v1/runs/batch', {
      post: [{ ...span, session_id: undefined, session_name: projectName }],
      patch: [],
    }),
    change('POST /runs/multipart', '/api/v1/runs/multipart', {}),
    change('PATCH /runs/:id', `/api/v1/runs/${child}`, { outputs: { taken: true } }),
    change('POST /otel/v1/traces', '/api/v1/otel/v1/traces', { resourceSpans: [] }),
    change('POST /otel/v1/metrics', '/api/v1/otel/v1/metrics', { resourceMetrics: [] }),
    change('POST /otel/v1/logs', '/api/v1/otel/v1/logs', { resourceLogs: [] }),
    change('POST /feedback', '/api/v1/feedback', { id: feedback, run_id: trace, key: 'taken',
      score: 0, session_id: project }),
    change('POST /feedback', '/api/v1/feedback', { run_id: trace, key: 'taken', score: 0 }),
    change('POST /feedback/eager', '/api/v1/feedback/eager', { id: feedback, run_id: child,
      key: 'taken', score: 0 }),
    change('PATCH /feedback/:id', `/api/v1/feedback/${feedback}`, { score: 0 }),
    change('DELETE /feedback/:id', `/api/v1/feedback/${feedback}`),
    change('POST /feedback/tokens', '/api/v1/feedback/tokens', { run_id: trace,
      feedback_key: 'taken' }),
    change('POST /feedback-configs', '/api/v1/feedback-configs', { feedback_key: feedbackKey,
      feedback_config: { type: 'freeform' } }),
    change('PATCH /feedback-configs', '/api/v1/feedback-configs', { feedback_key: feedbackKey,
      is_lower_score_better: true }),
    change('DELETE /feedback-configs', `/api/v1/feedback-configs?feedback_key=${feedbackKey}`),
    change('POST /sessions', '/api/v1/sessions?upsert=true', { id: project, name: projectName,
      description: 'taken' }),
    change('PATCH /sessions/:id', `/api/v1/sessions/${project}`, { name: 'taken' }),
    change('POST /sessions/:id/views', `/api/v1/sessions/${project}/views`, {
      display_name: 'taken',
    }),
    change('PATCH /sessions/:id/views/:view', `/api/v1/sessions/${project}/views/${view}`, {
      display_name: 'taken',
    }),
    change('DELETE /sessions/:id/views/:view', `/api/v1/sessions/${project}/views/${view}`),
    change('POST /charts/create', '/api/v1/charts/create', { title: 't', chart_type: 'line',
      series: [series], section_id: section }),
    change('PATCH /charts/:id', `/api/v1/charts/${chart}`, { title: 'taken' }),
    change('POST /charts/section', '/api/v1/charts/section', { title: 't' }),
    change('PATCH /charts/section/:id', `/api/v1/charts/section/${section}`, { title: 'taken' }),
    change('DELETE /charts/:id', `/api/v1/charts/${chart}`),
    change('DELETE /charts/section/:id', `/api/v1/charts/section/${section}`),
    change('POST /runs/rules', '/api/v1/runs/rules', { display_name: 't', session_id: project,
      webhooks: [{ url: 'https://example.com/' }] }),
    change('PATCH /runs/rules/:id', `/api/v1/runs/rules/${rule}`, { display_name: 'taken' }),
    change('POST /runs/rules/:id/trigger', `/api/v1/runs/rules/${rule}/trigger`, {}),
    change('POST /runs/rules/trigger', '/api/v1/runs/rules/trigger', { rule_ids: [rule] }),
    change('POST /runs/rules/judge', '/api/v1/runs/rules/judge', { run_id: trace,
      evaluator: { graph_id: 'echo' } }),
    change('DELETE /runs/rules/:id', `/api/v1/runs/rules/${rule}`),
    change('POST /platform/alerts/:session', `/api/v1/platform/alerts/${project}`,
      alertRule('taken')),
    change('PATCH /platform/alerts/:session/:rule', `/api/v1/platform/alerts/${project}/${alert}`,
      alertRule('taken')),
    change('POST /platform/alerts/:session/test', `/api/v1/platform/alerts/${project}/test`, {
      alert_rule_id: alert,
    }),
    change('DELETE /platform/alerts/:session/:rule', `/api/v1/platform/alerts/${project}/${alert}`),
    change('POST /platform/evaluators', '/api/v1/platform/evaluators', { name: 't',
      llm_evaluator: { prompt_repo_handle: 't' } }),
    change('PATCH /platform/evaluators/:id', `/api/v1/platform/evaluators/${evaluator}`, {
      name: 'taken',
    }),
    change('DELETE /platform/evaluators/:id', `/api/v1/platform/evaluators/${evaluator}`),
    change('DELETE /platform/evaluators', `/api/v1/platform/evaluators?evaluator_ids=${evaluator}`),
    ...promptCases(theirs),
    change('POST /workspaces/current/secrets', '/api/v1/workspaces/current/secrets', [
      { key: secret, value: null },
    ]),
    change('POST /playground/stream', '/api/v1/playground/stream', { messages, model: tiny }),
    change('POST /runs/generate-query', '/api/v1/runs/generate-query', { query: 'all',
      model: tiny }),
    change('POST /datasets/:id/generate', `/api/v1/datasets/${dataset}/generate`, {
      num_examples: 1,
      model: tiny,
    }),
    ...['stream', 'batch'].map((form) =>
      change(`POST /datasets/playground_experiment/${form}`,
        `/api/v1/datasets/playground_experiment/${form}`, { manifest: {}, model: tiny,
        project_name: 'taken', dataset_id: dataset })
    ),
    change('POST /playground-settings', '/api/v1/playground-settings', { name: 'taken',
      settings: tiny }),
    change('PATCH /playground-settings/:id', `/api/v1/playground-settings/${model}`, {
      name: 'taken',
    }),
    change('DELETE /playground-settings/:id', `/api/v1/playground-settings/${model}`),
    change('POST /model-price-map', '/api/v1/model-price-map', { ...cost, name: 'taken' }),
    change('PUT /model-price-map/:id', `/api/v1/model-price-map/${price}`, { ...cost,
      name: 'taken' }),
    change('DELETE /model-price-map/:id', `/api/v1/model-price-map/${price}`),
    change('POST /bulk-deletions', '/api/v1/bulk-deletions', { session: [project],
      filter: 'eq(name, "nothing")' }),
    change('PATCH /bulk-deletions/:id', `/api/v1/bulk-deletions/${deletion}`, {
      status: 'Cancelled',
    }),
    change('POST /experiments', '/api/v1/experiments', { dataset_id: dataset,
      assistant_id: 'echo' }),
    change('PATCH /experiments/:id', `/api/v1/experiments/${trial}`, { status: 'Cancelled' }),
    change('POST /runs/delete/traces', '/api/v1/runs/delete/traces', { session_id: project,
      trace_ids: [trace] }),
    change('POST /runs/delete', '/api/v1/runs/delete', { session_id: project, trace_ids: [trace] }),
    change('DELETE /sessions/:id', `/api/v1/sessions/${project}`),
    change('DELETE /sessions', `/api/v1/sessions?session_ids=${project}`),
    open('GET /feedback/tokens/:token', '/api/v1/feedback/tokens/unknown?score=1'),
    open('POST /feedback/tokens/:token', '/api/v1/feedback/tokens/unknown', { score: 1 }),
    open('GET /info', '/api/v1/info'),
    open('GET /info/health', '/api/v1/info/health'),
    open('POST /beacon/verify', '/api/v1/beacon/verify', {}),
    open('POST /beacon/ingest-traces', '/api/v1/beacon/ingest-traces', {}),
    open('POST /beacon/*', '/api/v1/beacon/other', {}),
    open('POST /metadata/submit', '/api/v1/metadata/submit', {}),
  ]
}
