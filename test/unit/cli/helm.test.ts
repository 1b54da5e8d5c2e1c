/** The chart for Helm renders to the manifests for Kubernetes. */

import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

import { describe, expect, it } from 'vitest'
import { parse, parseAllDocuments, stringify } from 'yaml'

const deploy = resolve(import.meta.dirname, '../../../deploy')
const chart = join(deploy, 'helm')
const read = (...path: readonly string[]) => readFileSync(join(...path), 'utf8')

interface Manifest {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly labels?: Record<string, string> }
}

type Values = Readonly<Record<string, unknown>>
const defaults = parse(read(chart, 'values.yaml')) as Values

function valueAt(values: Values, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => (value as Values)[name], values)
}

/** As Helm does, for the two things that the templates may use. Throws for all others. */
function rendered(text: string, values: Values): string {
  return text
    .replace(/\s*\{\{- toYaml \.Values\.([\w.]+) \| nindent (\d+) \}\}/g,
      (_, path: string, indent: string) =>
        stringify(valueAt(values, path)).trimEnd().split('\n')
          .map((line) => `\n${' '.repeat(Number(indent))}${line}`).join(''))
    .replace(/\{\{ \.Values\.([\w.]+) \}\}/g, (_, path: string) => {
      const value = valueAt(values, path)
      if (value === undefined) throw new Error(`values.yaml has no ${path}`)
      return String(value)
    })
    .replace(/\{\{.*/, (rest) => {
      throw new Error(`This test cannot render ${rest}`)
    })
}

function documentsIn(text: string): Manifest[] {
  return parseAllDocuments(text).map((document) => {
    expect(document.errors).toEqual([])
    return document.toJS() as Manifest
  })
}

function chartWith(values: Values): Manifest[] {
  return readdirSync(join(chart, 'templates')).flatMap((name) =>
    documentsIn(rendered(read(chart, 'templates', name), values))
  )
}

const byName = (manifests: readonly Manifest[]) =>
  new Map(manifests.map((each) => [`${each.kind} ${each.metadata.name}`, each]))

describe('the chart', () => {
  it('is by default what kubectl would apply', () => {
    const [{ resources, images: [image], labels: [label] }] = documentsIn(
      read(deploy, 'kubernetes/kustomization.yaml'),
    ) as unknown as [
      { resources: readonly string[]; images: [{ name: string; newTag: string }];
        labels: [{ pairs: Record<string, string> }] },
    ]
    const applied = resources.flatMap((name) =>
      documentsIn(
        read(deploy, 'kubernetes', name)
          .replace('image: heddle\n', `image: ${image.name}:${image.newTag}\n`),
      )
    ).map((each) => ({ ...each, metadata: { ...each.metadata, labels: label.pairs } }))
      // Helm makes the namespace itself.
      .filter(({ kind }) => kind !== 'Namespace')
    expect(byName(chartWith(defaults))).toEqual(byName(applied))
  })

  it('takes other values', () => {
    const members = byName(
      chartWith({ ...defaults, replicas: 5, settings: { HEDDLE_LOCAL_DATACENTER: 'eu' },
        cassandraNamespace: 'db' }),
    )
    expect(members.get('StatefulSet heddle')).toMatchObject({ spec: { replicas: 5 } })
    expect(members.get('ConfigMap heddle-settings'))
      .toMatchObject({ data: { HEDDLE_LOCAL_DATACENTER: 'eu' } })
    expect(JSON.stringify(members.get('NetworkPolicy heddle-egress'))).toContain('"db"')
  })

  it('has the version of the program', () => {
    const { version } = JSON.parse(read(deploy, '../package.json')) as { version: string }
    expect(parse(read(chart, 'Chart.yaml'))).toMatchObject({ version, appVersion: version })
    expect(defaults['image']).toMatchObject({ tag: version })
  })
})
