/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How complete a recording is, and what readers have to say of it.
 */
#include <stdarg.h>
#include <stdio.h>

#include "model_state.h"
#include "sentence.h"

void model_note(struct model *model, uint64_t count, const char *english, ...)
{
    char sentence[1024];
    va_list arguments;
    int length;

    va_start(arguments, english);
    length = vsnprintf(sentence, sizeof(sentence), translated(english), arguments);
    va_end(arguments);
    if (length >= 0 && !notes_add(&model->notes, sentence, count, model->is_reread))
        model_fail(model, "notes");
}

size_t model_note_count(const struct model *model)
{
    return notes_count(&model->notes);
}

const char *model_note_at(const struct model *model, size_t index, uint64_t *count)
{
    return notes_at(&model->notes, index, count);
}

void model_set_incomplete(struct model *model)
{
    if (!model->is_incomplete)
        model->is_incomplete = true;
}

static void keep_damage(struct model *model, const char *sentence)
{
    if (!model->first_damage[0])
        snprintf(model->first_damage, sizeof(model->first_damage), "%s", sentence);
    model_set_incomplete(model);
}

void model_lack(struct model *model, const char *english, ...)
{
    char sentence[sizeof(model->first_damage)];
    va_list arguments;

    va_start(arguments, english);
    vsnprintf(sentence, sizeof(sentence), translated(english), arguments);
    va_end(arguments);
    model_note(model, 0, "%s", sentence);
    keep_damage(model, sentence);
}

void model_note_damage(struct model *model, const struct mt_error *damage)
{
    model_note(model, 0, "%s; only what was read before it is here", damage->message);
    keep_damage(model, damage->message);
}

const char *model_first_damage(const struct model *model)
{
    return model->first_damage;
}

bool model_is_incomplete(const struct model *model)
{
    return model->is_incomplete;
}

void model_add_share(struct model *model, enum model_part part, struct model_share share)
{
    if (model->is_reread)
        return;
    model->shares[part].missing += share.missing;
    model->shares[part].whole += share.whole;
    if (share.missing)
        model_set_incomplete(model);
}

struct model_share model_share_of(const struct model *model, enum model_part part)
{
    return model->shares[part];
}

static struct model_worked_device *worked_device(struct model *model, uint16_t process,
                                                 int32_t device)
{
    struct model_worked_device *row;

    for (size_t i = 0; i < model->worked_devices.count; i++) {
        row = table_at(&model->worked_devices, i);
        if (row->process == process && row->device == device)
            return row;
    }
    row = table_add(&model->worked_devices);
    if (row)
        *row = (struct model_worked_device){.process = process, .device = device};
    return row;
}

void model_device_worked(struct model *model, struct model_worked_device worked)
{
    struct model_worked_device *row;

    if (model->is_reread)
        return;
    row = worked_device(model, worked.process, worked.device);
    if (row)
        row->kernel_count += worked.kernel_count;
    else
        model_fail(model, "devices");
}

size_t model_worked_device_count(const struct model *model)
{
    return table_count(&model->worked_devices);
}

const struct model_worked_device *model_worked_device_at(const struct model *model, size_t index)
{
    return table_at(&model->worked_devices, index);
}

void model_add_lost(struct model *model, uint64_t count)
{
    if (!model->is_reread)
        model->lost_count += count;
}

uint64_t model_lost_count(const struct model *model)
{
    return model->lost_count;
}
