/** The manifests for Kubernetes are valid, agree with each other, and have what members need. */

import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

import { describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'

import { resolveSettings } from '../../../src/settings/config.ts'
import { knownSettings } from '../../../src/settings/known-settings.ts'

const folder = resolve(import.meta.dirname, '../../../deploy/kubernetes')
const files = readdirSync(folder).filter((name) => name !== 'kustomization.yaml')

interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly spec: unknown
  readonly data?: Readonly<Record<string, string>>
}

function documentsIn(name: string): unknown[] {
  return parseAllDocuments(readFileSync(join(folder, name), 'utf8')).map((document) => {
    expect(document.errors, name).toEqual([])
    return document.toJS() as unknown
  })
}

const manifests = files.flatMap((name) => documentsIn(name) as Manifest[])
const [kustomization] = documentsIn('kustomization.yaml') as [{
  resources: string[]
  labels: { pairs: Record<string, string> }[]
}]

function the(kind: string, name = 'heddle'): Manifest {
  const found = manifests.filter((manifest) =>
    manifest.kind === kind && manifest.metadata.name === name
  )
  expect(found, `${kind} ${name}`).toHaveLength(1)
  return found[0]!
}

interface Probe {
  httpGet: { port: string; path: string }
  failureThreshold: number
  periodSeconds: number
}
interface Variable {
  name: string
  value?: string
  valueFrom?: { secretKeyRef?: { name: string }; fieldRef?: { fieldPath: string } }
}
interface PodSpec {
  terminationGracePeriodSeconds: number
  affinity: {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: { topologyKey: string;
        labelSelector: unknown }[]
    }
  }
  containers: [{
    image: string
    ports: { name: string; containerPort: number }[]
    envFrom: { configMapRef: { name: string } }[]
    env: Variable[]
    startupProbe: Probe
    readinessProbe: Probe
    livenessProbe: Probe
    lifecycle: { preStop: { exec: { command: string[] } } }
    resources: { requests: Record<string, string>; limits: Record<string, string> }
    volumeMounts: { name: string; mountPath: string }[]
  }]
  volumes: { name: string }[]
}
const members = the('StatefulSet').spec as {
  serviceName: string
  replicas: number
  updateStrategy: { type: string }
  selector: { matchLabels: object }
  template: { metadata: { labels: object }; spec: PodSpec }
  volumeClaimTemplates: [
    { metadata: { name: string }; spec: { resources: { requests: { storage: string } } } },
  ]
}
const pod = members.template.spec
const [container] = pod.containers
const settings = the('ConfigMap', 'heddle-settings').data!
const labels = { matchLabels: members.template.metadata.labels }

describe('the manifests', () => {
  it('are those of the kustomization, all of known kinds', () => {
    expect(kustomization.resources.toSorted()).toEqual(files.toSorted())
    expect(manifests.map(({ kind, apiVersion }) => `${apiVersion} ${kind}`).toSorted()).toEqual([
      'apps/v1 StatefulSet',
      'networking.k8s.io/v1 NetworkPolicy',
      'networking.k8s.io/v1 NetworkPolicy',
      'policy/v1 PodDisruptionBudget',
      'v1 ConfigMap',
      'v1 Namespace',
      'v1 Service',
      'v1 Service',
    ])
  })

  it('select the same pods by the same labels', () => {
    expect(members.selector).toEqual(labels)
    expect(kustomization.labels.map(({ pairs }) => pairs)).toEqual([labels.matchLabels])
    expect(the('PodDisruptionBudget').spec).toMatchObject({ selector: labels })
    expect(the('NetworkPolicy').spec).toMatchObject({ podSelector: labels })
    for (const name of ['heddle', 'heddle-members']) {
      expect(the('Service', name).spec).toMatchObject({ selector: labels.matchLabels })
    }
  })

  it('set each variable once, and only known ones', () => {
    const known: string[] = Object.values(knownSettings).flatMap((
      { variable, isSecret },
    ) => [variable, ...isSecret ? [`${variable}_FILE`] : []])
    const set = [...Object.keys(settings), ...container.env.map(({ name }) => name)]
    expect(known).toEqual(expect.arrayContaining(set))
    expect(new Set(set).size).toBe(set.length)
    expect(container.envFrom).toEqual([{ configMapRef: { name: 'heddle-settings' } }])
    for (const value of Object.values(settings)) expect(value).toBeTypeOf('string')
  })

  it('are for the region us; for eu, billing must be turned off', () => {
    const start = (changed: Readonly<Record<string, string>> = {}) =>
      resolveSettings({
        options: {},
        environment: { ...settings, ...changed },
        folder,
        starter: 'langgraph.json',
      })
    expect(start()).toMatchObject({ region: 'us', inRegion: true, billing: true })
    expect(() => start({ HEDDLE_REGION: 'eu' })).toThrow('--billing on')
    expect(start({ HEDDLE_REGION: 'eu', HEDDLE_BILLING: 'off' }).billing).toBe(false)
  })

  it('contain no secret', () => {
    expect(manifests.map(({ kind }) => kind)).not.toContain('Secret')
    for (const { name, value, valueFrom } of container.env) {
      if (name.endsWith('_FILE')) {
        expect(container.volumeMounts.some(({ mountPath }) => value?.startsWith(mountPath)), name)
          .toBe(true)
        continue
      }
      expect(value, name).toBeUndefined()
      if (/SECRET|PASSWORD/.test(name)) expect(valueFrom?.secretKeyRef, name).toBeDefined()
    }
    expect(container.env.map(({ name }) => name)).toContain('HEDDLE_CLUSTER_SECRET_FILE')
    // The one is a file.
    const { HEDDLE_SECRETS_KEY: key, ...others } = settings
    expect(container.volumeMounts.some(({ mountPath }) => key?.startsWith(`${mountPath}/`)))
      .toBe(true)
    expect(Object.keys(others).join()).not.toMatch(/SECRET|PASSWORD/)
  })

  it('pass each member the address of its pod', () => {
    expect(container.env.find(({ name }) => name === 'HEDDLE_MEMBER_HOST')?.valueFrom)
      .toEqual({ fieldRef: { fieldPath: 'status.podIP' } })
  })
})

describe('a member', () => {
  it('listens on the ports of the services and the policy', () => {
    expect(container.ports).toEqual([
      { name: 'http', containerPort: Number(settings['PORT']) },
      { name: 'grpc', containerPort: Number(settings['HEDDLE_MEMBER_PORT']) },
      { name: 'metrics', containerPort: Number(settings['HEDDLE_METRICS_PORT']) },
    ])
    expect(the('Service').spec).toMatchObject({ ports: [{ targetPort: 'http' }] })
    const grpcPort = Number(settings['HEDDLE_MEMBER_PORT'])
    expect(the('Service', 'heddle-members').spec).toMatchObject({
      clusterIP: 'None',
      ports: [{ targetPort: 'grpc', port: grpcPort }],
    })
    expect(members.serviceName).toBe('heddle-members')
    const { ingress } = the('NetworkPolicy').spec as {
      ingress: { ports: { port: string }[]; from: object[] }[]
    }
    expect(ingress.map(({ ports }) => ports)).toEqual([[{ port: 'grpc' }], [{ port: 'http' }], [{
      port: 'metrics',
    }]])
    // Only members may use the member port.
    expect(ingress[0]!.from).toEqual([{ podSelector: labels }])
    for (const { from } of ingress) expect(from.length).toBeGreaterThan(0)
  })

  it('is ready only with its store, and alive even without it', () => {
    const { startupProbe, readinessProbe, livenessProbe } = container
    for (const probe of [startupProbe, readinessProbe, livenessProbe]) {
      expect(probe.httpGet.port).toBe('http')
    }
    expect(readinessProbe.httpGet.path).toBe('/ok?check_db=1')
    expect(livenessProbe.httpGet.path).toBe('/ok')
    expect(startupProbe.httpGet.path).toBe('/ok')
    const patience = startupProbe.failureThreshold * startupProbe.periodSeconds
    expect(patience).toBeGreaterThanOrEqual(60)
    expect(livenessProbe.failureThreshold * livenessProbe.periodSeconds)
      .toBeGreaterThan(readinessProbe.failureThreshold * readinessProbe.periodSeconds)
  })

  it('has time until it gets no more requests, to drain, and some to spare', () => {
    const [program, seconds] = container.lifecycle.preStop.exec.command
    expect(program).toBe('sleep')
    const needed = Number(seconds) + Number(settings['HEDDLE_DRAIN_MS']) / 1_000
    expect(needed).toBeGreaterThan(20)
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(needed + 10)
  })

  it('runs on a node of its own, and only one is taken down at a time', () => {
    expect(pod.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution)
      .toEqual([{ topologyKey: 'kubernetes.io/hostname', labelSelector: labels }])
    expect(the('PodDisruptionBudget').spec).toMatchObject({ maxUnavailable: 1 })
    expect(members.updateStrategy).toEqual({ type: 'RollingUpdate' })
    expect(members.replicas).toBeGreaterThanOrEqual(3)
  })

  it('has resource requests and limits, minimal rights, and a volume for its data', () => {
    expect(Object.keys(container.resources.requests)).toEqual(
      expect.arrayContaining(['cpu', 'memory']),
    )
    expect(Object.keys(container.resources.limits)).toContain('memory')
    expect(pod).toMatchObject({ automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true } })
    expect(container).toMatchObject({ securityContext: { allowPrivilegeEscalation: false } })
    expect(container.volumeMounts).toMatchObject(
      [{ name: 'data', mountPath: settings['HEDDLE_DATA_DIR'] }, { name: 'cluster-secret' }, {
        name: 'secrets-key',
      }],
    )
    expect(pod.volumes.map(({ name }) => name)).toEqual(['cluster-secret', 'secrets-key'])
  })

  it('keeps secrets and files, and builds', () => {
    const [claim, ...others] = members.volumeClaimTemplates
    expect([claim.metadata.name, others]).toEqual(['data', []])
    const claimed = Number(claim.spec.resources.requests.storage.replace('Gi', ''))
    const { revisionsDiskBytes, secretsKey, builds } = resolveSettings({ options: {}, folder,
      environment: settings, starter: 'langgraph.json' })
    expect(revisionsDiskBytes).toBeLessThan(claimed * 2 ** 30 / 1.5)
    expect([secretsKey, builds]).toEqual(['/etc/heddle/secrets/key', true])
  })
})
