/** The components that a langgraph.json names: `ui` and `ui_config`. */

import { extname, relative, resolve, sep } from 'node:path'

import { z } from 'zod'

import { HeddleError } from '../../errors.ts'

/**
 * Members of a langgraph.json about components, as they are written there. They are checked when
 * components are built: a revision that was built without them is loaded as before.
 */
export interface UiWishes {
  readonly ui: unknown
  readonly ui_config: unknown
  /** True if `http.disable_ui` turns them off. */
  readonly isOff: boolean
}

/** The part of a project that says which components it has. */
export interface ProjectWithUi {
  readonly root: string
  /** Path of the langgraph.json. */
  readonly configFile: string
  readonly ui: UiWishes
}

/** A file whose components are built for a graph. */
export interface UiEntry {
  readonly graphId: string
  /** Absolute path. */
  readonly file: string
}

/** Components that are to be built. */
export interface UiPlan {
  readonly entries: readonly UiEntry[]
  /** Modules that the page brings, besides those of the SDK. */
  readonly shared: readonly string[]
}

/** Graphs that may have components, and modules that pages may bring. */
const entriesMax = 100
const sharedMax = 100

const extensions = ['.tsx', '.jsx', '.ts', '.js', '.mts', '.mjs']
/** A text that can be a part of a path. */
const id = z.string().regex(/^(?!\.{1,2}$)(?!\s)[^/\\\p{Cc}\p{Cs}]{1,128}(?<!\s)$/u)
const moduleName = z.string('must be names of modules')
  .regex(/^(?!\.)(@[\w.~-]+\/)?[\w.~-]+(\/[\w.~-]+)*$/, 'must be names of modules')

const files = z.record(id, z.string('must name a file, like "./ui.tsx"').max(1_000), {
  error: (issue) =>
    issue.code === 'invalid_key'
      ? 'is no graph id: use 1 to 128 characters, none of them "/", "\\" or a control character, ' +
        'and no space at either end'
      : 'must be an object from graph ids to "./ui.tsx"',
}).refine((entries) => Object.keys(entries).length <= entriesMax,
  `must name ${entriesMax} graphs ` +
    'at most')

const config = z.looseObject({
  shared: z.array(moduleName, 'must be an array of names of modules').max(sharedMax).nullish(),
}, { error: 'must be an object' })

const shape = z.object({ ui: files.nullish(), ui_config: config.nullish() })

/** The components of a project; no entries if it names none. Throws `invalid`. */
export function uiPlanOf({ root, configFile, ui: { isOff, ...wishes } }: ProjectWithUi): UiPlan {
  if (isOff) return { entries: [], shared: [] }
  const parsed = shape.safeParse(wishes)
  if (!parsed.success) {
    throw refusal(configFile, parsed.error.issues.map(({ path, message }) =>
      `${path.map(String).join('.')} ${message}`
    ))
  }
  const { ui, ui_config: about } = parsed.data
  const entries = Object.entries(ui ?? {}).map(([graphId, path]) => ({ graphId, path,
    file: resolve(root, path) })
  )
  const faults = entries.flatMap(({ graphId, path, file }) => {
    const fault = faultOf(root, file, path)
    return fault === undefined ? [] : [`ui.${graphId} ${fault}`]
  })
  if (faults.length > 0) throw refusal(configFile, faults)
  return { entries: entries.map(({ graphId, file }) => ({ graphId, file })),
    shared: about?.shared ?? [] }
}

function faultOf(root: string, file: string, path: string): string | undefined {
  const [first] = relative(root, file).split(sep)
  if (first === '..' || first === '') return `must name a file of the project: ${path}`
  if (!extensions.includes(extname(file))) {
    return `names a file that is neither TypeScript nor JavaScript: ${path}`
  }
  return undefined
}

function refusal(configFile: string, faults: readonly string[]): HeddleError {
  return new HeddleError('invalid', `${configFile} is not valid: ${faults.join('; ')}.`)
}
