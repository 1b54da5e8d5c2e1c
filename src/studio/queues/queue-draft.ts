/** Values of the form of a queue, and the body that saves them. */

import type { Queue, QueueBody, RubricItem } from '../../api/index.ts'

/** The values of the form. */
export interface QueueDraft {
  readonly name: string
  readonly description: string
  readonly instructions: string
  readonly rubric: readonly RubricItem[]
  readonly reviewers: number
  /** Minutes for which a run is reserved; 0 for never. */
  readonly minutes: number
  /** The id of a dataset; empty for none. */
  readonly dataset: string
}

/** The draft of a queue, or of a new one. */
export function draftOf(queue: Queue | undefined): QueueDraft {
  return {
    name: queue?.name ?? '',
    description: queue?.description ?? '',
    instructions: queue?.rubric_instructions ?? '',
    rubric: queue?.rubric_items ?? [],
    reviewers: queue?.num_reviewers_per_item ?? 1,
    minutes: queue?.enable_reservations === false ? 0 : queue?.reservation_minutes ?? 1,
    dataset: queue?.default_dataset ?? '',
  }
}

/** The body that saves a draft. Items of the rubric without a key are left out. */
export function bodyOf(draft: QueueDraft): QueueBody & Pick<Queue, 'name'> {
  const { name, description, instructions, rubric, reviewers, minutes, dataset } = draft
  return { name: name.trim(), description: description.trim() || null,
    rubric_instructions: instructions.trim() || null, num_reviewers_per_item: reviewers,
    default_dataset: dataset || null, enable_reservations: minutes > 0,
    ...minutes > 0 && { reservation_minutes: minutes },
    rubric_items: rubric.filter(({ feedback_key: key }) => key.trim() !== '') }
}
