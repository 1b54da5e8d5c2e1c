/** Deployments for the screens: one that was rolled out, one that was refused, and a preview. */

import { afterAll, beforeAll } from 'vitest'

import type { ControlDeployment, ControlLine, ControlMember, ControlOutcome, ControlRevision,
  ControlRollout } from '../../../src/api/index.ts'
import { FakeControl } from '../../support/fake-control.ts'

/** A time that many minutes ago. */
export const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()

const limits = { workers: 2, memory_mb: 512, concurrency: 100, run_timeout_s: 3_600, body_mb: 25,
  requests: null }

/** Members of a roll-out. */
export const members = (...states: readonly ControlMember['state'][]): readonly ControlMember[] =>
  states.map((state, at) => ({ id: `${'abc'[at]}1f0c3d2-member`, state,
    ms: state === 'waiting' ? null : 820 + at * 340 })
  )

/** A roll-out that is under way. */
export const rollout = (phase: ControlRollout['phase'],
  ...states: readonly ControlMember['state'][]): ControlRollout => ({ id: 'ro-1', kind: 'activate',
    revision: 'r13', from: 'r12', percent: 100, phase, members: members(...states),
    started_at: ago(0), watch_s: 60, by: 'mira', message: 'Shorter answers' })

const done: ControlOutcome = { id: 'ro-0', kind: 'activate', revision: 'r12', from: 'r11',
  percent: 100, result: 'done', reason: null, failures: [],
  members: members('confirmed', 'confirmed', 'confirmed'), by: 'mira', started_at: ago(42),
  ended_at: ago(41) }

/** The outcome of one that a graph did not survive. */
export const refused: ControlOutcome = { ...done, id: 'ro-2', revision: 'r13', from: 'r12',
  result: 'refused', reason: 'a1f0c3d2 cannot load r13: the graph agent is not there.',
  members: members('silent'),
  failures: [{ graph_id: 'agent', at: 'src/agent.ts:14',
    message: 'Cannot find package zod, imported from src/agent.ts' }] }

/** A deployment as the API has it. */
export const deployment = (name: string,
  change: Partial<ControlDeployment> = {}): ControlDeployment => ({ name, tenant: 'local',
    access: 'own', url: `https://${name}.agents.example.org`, hosts: [], limits, record: null,
    paused: false, active: 'r12', previous: 'r11', next: null, env_version: 3, rollout: null,
    last_rollout: done, kept_secrets: [], problems: [], preview: null, created_at: ago(90_000),
    updated_at: ago(41), ...change })

/** A revision as the API has it. */
export const revision = (number: number,
  change: Partial<ControlRevision> = {}): ControlRevision => ({ name: `r${number}`, state: 'ready',
    hash: String(number).padStart(64, '3f9a'), message: 'Look up orders by mail', by: 'mira',
    bytes: 11_120_000 + number * 3_000, files: 4_907, platform: 'linux-x64-glibc',
    source: { commit: '5ebbf1480c3d2a91', branch: 'main', dirty: false }, wants_env: ['SHOP_KEY'],
    graphs: [{ graph_id: 'agent', nodes: ['plan', 'look_up', 'answer'] }], reason: null,
    failures: [], created_at: ago((14 - number) * 700), expires_at: null, active_at: null,
    running: 0, waiting_threads: 0, ...change })

/** Fills the API. */
export function fillShop(control: FakeControl): void {
  control.deployments.set('shop', { record: deployment('shop'), revisions: [
    revision(13, { message: 'Shorter answers' }),
    revision(12, { active_at: ago(41), running: 14, waiting_threads: 2 }),
    revision(11, { waiting_threads: 3, message: '' }),
    revision(10, { state: 'refused', graphs: [], reason: 'The graph agent cannot be loaded.',
      failures: refused.failures }),
    revision(9, { state: 'removed', by: 'pipeline-of-the-shop', running: null,
      waiting_threads: null }),
  ], secrets: [{ name: 'SHOP_KEY', version: 3, updated_at: ago(300), state: 'in_use' }, {
    name: 'MODEL_URL',
    version: 1,
    updated_at: ago(9_000),
    state: 'in_use',
  }],
    report: { graphs_added: [], graphs_removed: [], nodes_added: [],
      nodes_removed: [{ graph_id: 'agent', node: 'ask', waiting_threads: 3 }], channels_removed: [],
      wants_env_missing: ['MAIL_KEY'] } })
  control.deployments.set('support', {
    record: deployment('support', { access: 'any', paused: true, last_rollout: refused }),
    revisions: [],
    secrets: [],
  })
  control.deployments.set('shop--colours', {
    record: deployment('shop--colours', { active: 'r1', previous: null, last_rollout: null,
      preview: { of: 'shop', label: 'colours', ttl_s: 604_800 } }),
    revisions: [revision(1)],
    secrets: [],
  })
}

/** A server with deployments for a test file. */
export function useShop(server: { readonly url: string }): { readonly control: FakeControl } {
  let control: FakeControl
  beforeAll(async () => {
    control = await new FakeControl(server.url).open()
  })
  afterAll(() => control.close())
  return {
    get control() {
      return control
    },
  }
}

/** A line of a log. */
export const line = (text: string, change: Partial<ControlLine> = {}): ControlLine => ({
  at: new Date().toISOString(),
  level: 'info',
  member: 'a1f0c3d2-member',
  revision: 'r12',
  text,
  thread_id: null,
  run_id: null,
  ...change,
})
