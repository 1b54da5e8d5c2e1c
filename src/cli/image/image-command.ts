/** The command `heddle image`: a container image of a project, without a container engine. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

import { Command } from 'commander'

import { inTemporaryFolder, revisionHash, writingTo } from '../../revision/index.ts'
import { CommandError } from '../admin-command.ts'
import { buildProject, ignoreAuthOption, platformIn } from '../deploy/built-project.ts'
import type { TypedBuild } from '../deploy/built-project.ts'
import { megabytes } from '../megabytes.ts'
import { runProjectCommand } from '../project-command.ts'
import type { ProjectCommandSource } from '../project-command.ts'
import { dockerfile } from './dockerfile.ts'
import { writeImage } from './image-archive.ts'
import { readLayout } from './oci-layout.ts'
import { writeLayer } from './project-layer.ts'

interface Typed extends TypedBuild {
  readonly dockerfile?: boolean
  readonly base?: string
  readonly out?: string
  readonly json?: boolean
}

/** Prints a Dockerfile, or writes an image. Throws CommandError. */
export function runImageCommand(source: ProjectCommandSource): Promise<void> {
  const command = new Command('heddle image')
    .description("Makes a container image of the project: the layers of Heddle's image, and one " +
      'with the project. Needs no container engine.')
    .option('--dockerfile', 'Print a Dockerfile instead.')
    .option('--base <layout>', "The folder of an OCI layout with Heddle's image.")
    .option('--out <file>', 'The archive to write, as project.tar.')
    .option('--config <path>', 'The project: its langgraph.json, or the folder of it.')
    .option('--platform <name>', 'Where it is going to run, as linux-x64-glibc; by default here.')
    .option('--clean', 'Install its packages anew from the lock file, in a temporary folder.')
    .addOption(ignoreAuthOption())
    .action((typed: Typed) => make(source, typed))
  return runProjectCommand(command, source)
}

async function make(source: ProjectCommandSource, typed: Typed): Promise<void> {
  const { base: layout, out, config } = typed
  if (typed.dockerfile) {
    if (layout !== undefined || out !== undefined) {
      throw new CommandError('--dockerfile prints, and needs neither --base nor --out', 'misused')
    }
    const text = await dockerfile(resolve(source.folder, config ?? '.'))
    return source.print(typed.json ? `${JSON.stringify({ dockerfile: text })}\n` : text)
  }
  if (layout === undefined || out === undefined) {
    throw new CommandError('Say --dockerfile, or both --base and --out; see image --help',
      'misused')
  }
  const folder = resolve(source.folder, layout)
  const base = await readLayout(folder, platformIn(typed.platform))
  const { manifest, warnings, chunks } = await buildProject(source, typed)
  for (const warning of warnings) source.note(`heddle: ${warning}\n`)
  const work = await inTemporaryFolder(() => mkdtemp(join(tmpdir(), 'heddle-image-')))
  try {
    const layer = await inTemporaryFolder(() =>
      writeLayer(manifest, async (sha256) => chunks.get(sha256)!, join(work, 'layer'))
    )
    const file = resolve(source.folder, out)
    const digest = await writingTo(file, () =>
      writeImage({ folder, base, layer, configPath: manifest.config,
        revisionHash: revisionHash(manifest) }, file))
    source.print(typed.json
      ? `${
        JSON.stringify({ digest, layer: `sha256:${layer.sha256}`, layer_bytes: layer.bytes,
          out: file })
      }\n`
      : `layer      ${megabytes(layer.bytes)} MB\nout        ${file}\ndigest     ${digest}\n`)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}
