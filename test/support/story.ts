/** A summary of a member's output, to find out what went wrong. */

/** How many of the last lines are shown. */
const seenLines = 30

interface Said {
  readonly time: string
  readonly level: string
  readonly message: string
  readonly reason?: string
  readonly why?: string
  readonly error?: { readonly message: string; readonly cause?: { readonly message: string } }
}

/** The log lines, without stacks, and one line for each of its lives. */
export function storyOf(output: string): string {
  return output.split('\n').flatMap(recentOf).slice(-seenLines).join('\n')
}

function recentOf(line: string): string[] {
  if (line.startsWith('  member ') || line.startsWith('--- ')) return [line]
  if (!line.startsWith('{')) return []
  try {
    const { time, level, message, reason, why, error } = JSON.parse(line) as Said
    const causes = [reason, why, error?.message, error?.cause?.message]
    return [[time.slice(11, 23), level, message, ...causes.filter((cause) => cause !== undefined)]
      .join(' ')]
  } catch {
    return [line]
  }
}
