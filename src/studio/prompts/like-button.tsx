/** Likes a prompt, or does so no more. */

import { useMutation } from '@tanstack/react-query'

import type { Prompt } from '../../api/index.ts'
import { queries } from '../api/query.ts'
import { useRefusal } from '../api/refusal.ts'
import { Button } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { messageOf } from '../parts/error-message.ts'
import { likePrompt } from './prompt-calls.ts'
import css from './prompts.module.css'

/** The button, with how many like it. */
export function LikeButton({ prompt }: { readonly prompt: Prompt }) {
  const { repo_handle: name, num_likes: likes, liked_by_auth_user: isLiked } = prompt
  const refusal = useRefusal()
  const like = useMutation({
    mutationFn: () => likePrompt(name, !isLiked),
    onSettled: () => queries.invalidateQueries({ queryKey: ['prompts'] }),
  })
  return (
    <span className={css['like']}>
      <Button small kind="quiet" aria-pressed={isLiked} disabled={refusal !== undefined}
        title={refusal ?? (isLiked ? 'You like it' : 'Like')} aria-label={`Like ${name}: ${likes}`}
        icon={<Icon name="like" size={14} />} onClick={() => like.mutate()}
      >
        {likes}
      </Button>
      {like.isError && <span role="alert">{messageOf(like.error)}</span>}
    </span>
  )
}
