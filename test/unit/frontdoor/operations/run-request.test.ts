/** What a run becomes for its thread, from the client's request and its assistant. */

import { describe, expect, it } from 'vitest'

import type { AssistantRow } from '../../../../proto/gen/storage/v1/row.ts'
import { headersForGraph, mergedConfig, mergedContext, runOnThread,
  statelessRun } from '../../../../src/frontdoor/operations/run-request.ts'
import { token } from '../../../support/sessions.ts'

const ids = { runId: 'r', threadId: 't' }
const caller = { commandId: '', headers: {} }

function assistantOf(change: Partial<AssistantRow> = {}) {
  const row: AssistantRow = {
    tenant: 'local',
    assistantId: 'a',
    graphId: 'g',
    name: 'n',
    descriptionJson: 'null',
    configJson: '{}',
    contextJson: '{}',
    metadataJson: '{}',
    epoch: 1,
    seq: 1,
    createdAtMs: 0,
    updatedAtMs: 0,
    version: 1,
    newestVersion: 1,
    applied: [],
    branch: undefined,
    storedBytes: 0,
    ...change,
  }
  return { row, context: JSON.parse(row.contextJson) as unknown }
}

const kwargsOf = (body: object) =>
  runOnThread({ assistant_id: 'g', ...body }, assistantOf(), ids, caller).kwargs

it('A stateless run does not begin from a checkpoint: its thread is new.', () => {
  const body = { assistant_id: 'g', config: { configurable: { checkpoint_id: 'c', a: 1 } } }
  const { kwargs } = statelessRun(body, assistantOf(), ids, caller)
  expect(kwargs).not.toHaveProperty('checkpoint')
  expect(kwargs['config']).toMatchObject({ configurable: { a: 1 } })
})

describe('a run on a thread', () => {
  it('has the defaults that clients expect', () => {
    expect(runOnThread({ assistant_id: 'g' }, assistantOf(), ids, caller)).toEqual({
      runId: 'r',
      assistantId: 'a',
      graphId: 'g',
      strategy: 'enqueue',
      commandId: '',
      metadata: {},
      afterMs: 0,
      awaited: false,
      ifMissing: 'reject',
      kwargs: {
        input: null,
        context: {},
        stream_mode: ['values'],
        subgraphs: false,
        resumable: false,
        temporary: false,
        config: { configurable: { run_id: 'r', thread_id: 't', graph_id: 'g', assistant_id: 'a' } },
      },
      plan: { graphId: 'g', assistantMetadata: {}, headers: {}, userId: '', resumable: false,
        temporary: false, timeoutMs: 3_600_000 },
    })
  })

  it('has every field of the request', () => {
    const run = runOnThread({
      assistant_id: 'g',
      input: { a: 1 },
      command: { resume: 1 },
      stream_mode: 'updates',
      stream_subgraphs: true,
      stream_resumable: true,
      interrupt_before: '*',
      interrupt_after: ['x'],
      multitask_strategy: 'rollback',
      if_not_exists: 'create',
      after_seconds: 1.5,
      durability: 'sync',
      metadata: { m: 1 },
    }, assistantOf({ metadataJson: '{"team":"blue"}' }), ids, { ...caller, commandId: 'k' })
    expect(run).toMatchObject({
      strategy: 'rollback',
      ifMissing: 'create',
      afterMs: 1_500,
      commandId: 'k',
      metadata: { m: 1 },
      kwargs: { input: { a: 1 }, command: { resume: 1 }, stream_mode: ['updates'], subgraphs: true,
        resumable: true, interrupt_before: '*', interrupt_after: ['x'], durability: 'sync' },
      plan: { resumable: true, assistantMetadata: { team: 'blue' } },
    })
  })

  it('maps checkpoint_during to durability, unless that is given', () => {
    expect(kwargsOf({ checkpoint_during: false })).toMatchObject({ durability: 'exit' })
    expect(kwargsOf({ checkpoint_during: true })).toMatchObject({ durability: 'async' })
    expect(kwargsOf({ checkpoint_during: false, durability: 'sync' }))
      .toMatchObject({ durability: 'sync' })
  })

  it('finds its checkpoint in each place where it may be named', () => {
    const place = { checkpoint_id: 'c', checkpoint_ns: '' }
    expect(kwargsOf({ checkpoint: { ...place, checkpoint_map: null } }).checkpoint).toEqual(place)
    expect(kwargsOf({ checkpoint_id: 'c' }).checkpoint).toEqual({ checkpoint_id: 'c' })
    const configured = kwargsOf({ config: { configurable: { ...place, own: 1 } } })
    expect(configured.checkpoint).toEqual(place)
    expect(configured.config).toMatchObject({ configurable: { own: 1 } })
    expect(JSON.stringify(configured.config)).not.toContain('checkpoint')
    expect(kwargsOf({ checkpoint: { checkpoint_ns: '', checkpoint_map: null } }))
      .not.toHaveProperty('checkpoint')
  })
})

describe('a stateless run', () => {
  it.each(
    [[undefined, true], ['delete', true], ['complete', true], ['continue', true], ['keep',
      false]] as const,
  )('with on_completion %s is temporary: %j', (word, temporary) => {
    const run = statelessRun({ assistant_id: 'g', on_completion: word }, assistantOf(), ids, caller)
    expect(run).toMatchObject({ plan: { temporary }, kwargs: { temporary },
      ifMissing: temporary ? 'hidden' : 'create' })
  })
})

describe('the config of a run', () => {
  it("is the assistant's overridden by the request's, with tags appended and server ids", () => {
    expect(mergedConfig(
      { tags: ['a'], recursion_limit: 5, configurable: { x: 1, y: 1 }, own: 1 },
      { tags: ['b'], recursion_limit: 9, configurable: { y: 2, thread_id: 'forged' } },
      { thread_id: 't' },
    )).toEqual({ tags: ['a', 'b'], recursion_limit: 9, own: 1,
      configurable: { x: 1, y: 2, thread_id: 't' } })
  })

  it('cannot pollute prototypes', () => {
    const forged = JSON.parse('{"configurable":{"__proto__":{"polluted":1}}}') as object
    mergedConfig({}, { ...forged }, {})
    expect(({} as { polluted?: number }).polluted).toBeUndefined()
  })
})

it("Contexts merge as objects; any other context replaces the assistant's.", () => {
  expect(mergedContext({ a: 1, b: 1 }, { b: 2 })).toEqual({ a: 1, b: 2 })
  expect(mergedContext({ a: 1 }, undefined)).toEqual({ a: 1 })
  expect(mergedContext({ a: 1 }, 'text')).toBe('text')
  const context = { a: 1 }
  expect(mergedContext({}, context)).toBe(context)
})

it('Graphs see x- headers, but no credential and nothing of proxies.', () => {
  expect(headersForGraph({ headers: {
    'x-colour': 'green',
    'x-list': ['a', 'b'],
    'x-api-key': 'hush',
    'x-tenant-id': 't',
    'x-service-key': 's',
    'x-forwarded-for': '1',
    'x-auth-scheme': 'langsmith',
    'x-session': `Bearer ${token()}`,
    'x-note': 'eyJ.b.c',
    authorization: 'hush',
    'x-hint': 'of hdl_eu_0123456789abcdef_hush',
    'user-agent': 'u',
    'x-absent': undefined,
  } })).toEqual({ 'x-colour': 'green', 'x-list': 'a, b', 'x-note': 'eyJ.b.c' })
})

it('Graphs see no header with an identity, but others.', () => {
  const seen = (names: readonly string[]) =>
    Object.keys(headersForGraph({ headers: Object.fromEntries(names.map((name) => [name, 'v'])) }))
  expect(
    seen(['x-remote-user', 'x-remote-group', 'x-remote-extra-a', 'x-remoteuser',
      'x-amz-security-token', 'x-amz-security', 'x-amzn-oidc-identity', 'x-amzn-oidc-data',
      'x-amz-date', 'x-forwarded-user', 'x-forwarded-email', 'x-forwarded-groups',
      'x-goog-authenticated-user-email', 'x-goog-iap-jwt-assertion', 'x-ms-client-principal',
      'x-ms-client-principal-id', 'x-ms-token-aad-id-token', 'cf-access-authenticated-user-email',
      'cf-access-jwt-assertion', 'x-auth-request-user', 'x-auth-request-email', 'x-authentik-name',
      'x-authentik-uid', 'x-authenticated-userid', 'x-webauth-user', 'x-webauth-role',
      'x-pomerium-claim-email', 'x-vouch-idp-claims-sub', 'x-consumer-username', 'x-consumer-id',
      'x-credential-identifier', 'x-anonymous-consumer', 'x-client-cert', 'x-client-verify',
      'x-forwarded-client-cert', 'x-ssl-client-s-dn', 'x-ssl-client-verify', 'x-client-dn',
      'x-user', 'x-user-email', 'x-username', 'x-userinfo', 'x-current-user', 'x-user-role',
      'x-user_id', 'x-email', 'x-login', 'x-account-id', 'x-tenant', 'x-tenant-id', 'x-org-id',
      'x-role', 'x-roles', 'x-groups', 'x-scopes', 'x-permissions', 'x-principal', 'x-subject',
      'x-sub', 'x-uid', 'x-upn', 'x-identity', 'x-id-token', 'x-access-token', 'x-csrf-token',
      'x-xsrf', 'x-session-id', 'x-impersonate-user', 'x-sudo', 'x-hasura-role', 'x-spiffe-id',
      'x-okta-user', 'x-saml-name', 'x-ldap-dn', 'x-real-ip', 'x-original-uri', 'x-client-ip',
      'x-envoy-external-address', 'x-cluster-client-ip', 'x-appengine-user-id', 'x-admin',
      'tailscale-user-login', 'remote-user', 'impersonate-user', 'oidc_claim_sub']),
  ).toEqual([])
  const harmless = ['x-request-id', 'x-locale', 'x-experiment', 'x-page', 'x-b3-traceid',
    'x-device', 'x-app-version', 'x-timezone', 'x-topic', 'x-plan', 'x-customer-tier', 'x-source']
  expect(seen(harmless)).toEqual(harmless)
})
