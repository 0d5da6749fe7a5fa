/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is wrong or odd in real files of Ascend profiles is survived, and said.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "input.h"
#include "temporary_folder.h"

#define OLD_HEADER                                                                                 \
    "Name,Size(KB),Allocation Time(us),Release Time(us),Duration(us),Allocation Total "            \
    "Allocated(MB),Allocation Total Reserved(MB),Release Total Allocated(MB),Release Total "       \
    "Reserved(MB),Device Type\n"
#define HEADER                                                                                     \
    "Name,Size(KB),Allocation Time(us),Release Time(us),Active Release Time(us),Duration(us),"     \
    "Active Duration(us),Allocation Total Allocated(MB),Allocation Total Reserved(MB),"            \
    "Allocation Total Active(MB),Release Total Allocated(MB),Release Total Reserved(MB),"          \
    "Release Total Active(MB),Stream Ptr,Device Type\n"
#define MSPROF_HEADER                                                                              \
    "Device_id,Name,Size(KB),Allocation Time(us),Duration(us),Allocation Total Allocated(KB),"     \
    "Allocation Total Reserved(KB),Release Total Allocated(KB),Release Total "                     \
    "Reserved(KB),Device\n"
#define RECORD_HEADER                                                                              \
    "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),Stream "      \
    "Ptr,Device Type\n"
#define MINDSPORE_RECORD_HEADER                                                                    \
    "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),Device "      \
    "Type\n"

/* events: "+operator:size@time" alloc, "-size@time" free, "[n@t" and "]n@t" steps, with the pool
 * where it is not pta; in ns since the first. counters: "name=value@time". NULL: not looked at. */
struct oddity {
    const char *name;
    struct {
        const char *name, *text;
    } files[3];
    const char *events, *counters, *note;
};

static const struct oddity oddities[] = {
    {"pitfall 1: CRLF and LF mixed, a byte order mark, names that are no UTF-8",
     {{"operator_memory.csv",
       "\xef\xbb\xbf" HEADER "a\xb0\xa1,1,5.000\t,6.000\t,6.000\t,1.000\t,1.000\t,,,,,,,2,NPU:0\r\n"
       "b,2,7.000\t,,,,,,,,,,,2,NPU:0\n"}},
     "+a\xb0\xa1:1024@0 -1024@1000 +b:2048@2000 ",
     NULL,
     NULL},
    {"pitfall 2: tabs, quotes, commas and doubled quotes",
     {{"operator_memory.csv",
       HEADER "\"f<a,b>(\"\"x\"\")\",1, 5.000\t,\"6.000\t\",,1.000\t,,1,8,1,,8,,2,NPU:0\r\n"}},
     "+f<a,b>(\"x\"):1024@0 -1024@1000 ",
     NULL,
     NULL},
    {"pitfall 3: missing values as empty, N/A and NULL",
     {{"operator_memory.csv", HEADER "a,1,5.0,,,,,,8,,,,,2,NPU:0\n"
                                     "b,1,6.0,N/A,N/A,N/A,N/A,N/A,8,N/A,N/A,N/A,N/A,2,NPU:0\n"
                                     "c,1,7.0,NULL,NULL,NULL,,NULL,8,NULL,NULL,,,2,NPU:0\n"}},
     "+a:1024@0 +b:1024@1000 +c:1024@2000 ",
     NULL,
     NULL},
    {"pitfall 3: a cann row without duration and release totals is not released",
     {{"operator_memory.csv", OLD_HEADER "cann::a,1,5.0,5.0,0,,8,0.0,0.0,NPU:0\n"
                                         "cann::b,1,6.0,6.0,0,,8,0.5,8,NPU:0\n"
                                         "c,1,7.0,7.0,0,,8,,0,NPU:0\n"}},
     "ge+cann::a:1024@0 ge+cann::b:1024@1000 ge-1024@1000 +c:1024@2000 -1024@2000 ",
     NULL,
     NULL},
    {"pitfall 4: columns in another order, units from the header",
     {{"operator_memory.csv", "Device Type,Allocation Time(ms),Name,Release Time(ns),Size(B)\n"
                              "NPU:0,0.005,a,6000,100\n"}},
     "+a:100@0 -100@1000 ",
     NULL,
     NULL},
    {"pitfall 5: slices, each with a header, merged by time",
     {{"operator_memory_slice_1_20260101000000.csv",
       MSPROF_HEADER "0,b,2,6.000\t,1.5,1,8,0,8,NPU:0\n"},
      {"operator_memory_slice_0_20260101000000.csv", MSPROF_HEADER
       "0,a,1,5.000\t,3,1,8,0,8,NPU:0\n" MSPROF_HEADER "0,c,3,8.000\t,0,1,8,0,0,NPU:0\n"}},
     "ge+a:1024@0 ge+b:2048@1000 ge-2048@2500 ge-1024@3000 ge+c:3072@3000 ",
     NULL,
     "rows skipped, the first in line 3: the header again"},
    {"pitfall 5: a run that was parsed twice",
     {{"operator_memory_20260101000000.csv", MSPROF_HEADER "0,a,1,5.000\t,3,1,8,0,8,NPU:0\n"},
      {"operator_memory_20260101000001.csv", MSPROF_HEADER "0,b,1,5.000\t,3,1,8,0,8,NPU:0\n"}},
     "ge+b:1024@0 ge-1024@3000 ",
     NULL,
     "files left out"},
    {"pitfall 7: rows that are too short or too long, and a file that ends in a row",
     {{"operator_memory.csv",
       OLD_HEADER "a,1,5.0,,,,,,,NPU:0\nb,1\nc,1,6.0,,,,,,,NPU:0,x\nd,1,7.0,,,,,,,NPU:0\ne,1,8."}},
     "+a:1024@0 +d:1024@2000 ",
     NULL,
     "rows skipped, the first in line 3: not as many columns as the header"},
    {"pitfall 7: rows of nothing, as spreadsheets leave them",
     {{"operator_memory.csv",
       "\n" HEADER
       ",,,,,,,,,,,,,,\r\na,1,5.0,,,,,,,,,,,2,NPU:0\r\r\n \t\n\nb,1,6.0,,,,,,,,,,,2,NPU:0\n"}},
     "+a:1024@0 +b:1024@1000 ",
     NULL,
     NULL},
    {"pitfall 8: 19 digits of time",
     {{"operator_memory.csv",
       OLD_HEADER "a,1,1764246877074330.301,1764246877074330.302,,,,,,NPU:0\n"}},
     "+a:1024@0 -1024@1 ",
     NULL,
     NULL},
    {"pitfall 8: times rounded by a spreadsheet",
     {{"memory_record.csv", RECORD_HEADER "APP,1.69512E+15,,64,,,NPU:0\n"},
      {"operator_memory.csv", OLD_HEADER "a,1,5.0,6.0,,1,8,,,NPU:0\n"}},
     "+a:1024@0 -1024@1000 ",
     NULL,
     "memory_record.csv: rows skipped, the first in line 2: times rounded by a spreadsheet"},
    {"pitfall 8: times before the clock began, and no times",
     {{"operator_memory.csv",
       OLD_HEADER "a,1,-5.0,6.0,,,,,,NPU:0\nb,1,0.0-5,6.0,,,,,,NPU:0\nc,1,7.0,,,,,,,NPU:0\n"}},
     "+c:1024@0 ",
     NULL,
     "times before the start of the clock"},
    {"released before it was allocated",
     {{"operator_memory.csv", OLD_HEADER "a,1,5.0,4.0,,,,,,NPU:0\nb,1,7.0,,,,,,,NPU:0\n"}},
     "+b:1024@2000 ",
     NULL,
     "released before it was allocated"},
    {"pitfall 9: old rows of releases only, with a negative size",
     {{"operator_memory.csv",
       OLD_HEADER "a,1,5.0,,,1,8,,,NPU:0\n,-4.5,,6.0,,,,1,8,NPU:0\nb,1,7.0,,,1,8,,,NPU:0\n"}},
     "+a:1024@0 -4608@1000 +b:1024@2000 ",
     NULL,
     NULL},
    {"pitfall 9: a module that only showed frees",
     {{"npu_module_mem.csv", "Device_id,Component,Timestamp(us),Total Reserved(MB),Device\n"
                             "0,HCCL,5.0,2,NPU:0\n0,CCE,5.0,-0.0009765625,NPU:0\n"
                             "0,76,4.0,1,NPU:0\n0,TS,5.0,18014398509481983.999,NPU:0\n"}},
     "",
     "module 76 reserved=1048576@0 module HCCL reserved=2097152@1000 ",
     "rows of modules that only showed frees"},
    {"pitfall 10: no names",
     {{"operator_memory.csv", OLD_HEADER ",1,5.0,6.0,,,,,,NPU:0\n,1,7.0,,,,,,,NPU:0\n"}},
     "+:1024@0 -1024@1000 +:1024@2000 ",
     NULL,
     NULL},
    {"pitfall 11: a tail of cann rows that goes back in time",
     {{"operator_memory.csv", OLD_HEADER
       "a,1,5.0,9.0,,,,,,NPU:0\nb,1,7.0,,,,,,,NPU:0\ncann::c,1,6.0,8.0,2,,,1,1,NPU:0\n"}},
     "+a:1024@0 ge+cann::c:1024@1000 +b:1024@2000 ge-1024@3000 -1024@4000 ",
     NULL,
     NULL},
    {"pitfall 11: APP rows first",
     {{"memory_record.csv",
       RECORD_HEADER "APP,5.0,,4,,,NPU:0\nAPP,9.0,,5,,,NPU:0\nPTA,6.0,1,2,1,7,NPU:0\n"}},
     "",
     "APP reserved=4194304@0 PTA reserved=2097152@1000 PTA allocated=1048576@1000 "
     "PTA active=1048576@1000 APP reserved=5242880@4000 ",
     NULL},
    {"pitfall 12: active release before and after the release; equal times",
     {{"operator_memory.csv", HEADER "a,1,5.0,8.0,7.5,,,,,,,,,2,NPU:0\n"
                                     "b,1,6.0,8.0,9.0,,,,,,,,,2,NPU:0\n"
                                     "c,1,8.0,8.0,8.0,,,,,,,,,2,NPU:0\n"}},
     "+a:1024@0 +b:1024@1000 -1024@3000 -1024@3000 +c:1024@3000 -1024@3000 ",
     NULL,
     NULL},
    {"a last line without an end: nobody knows what is missing",
     {{"operator_memory.csv", HEADER "a,1,5.0,8.0,8.0,,,,,,,,,2,NPU:0\n"
                                     "b,1,6.0,8.0,8.0,,,,,,,,,2,NPU:0"}},
     "+a:1024@0 -1024@3000 ",
     NULL,
     NULL},
    {"the first row lacks a total that the others have",
     {{"operator_memory.csv", HEADER "a,1,5.0,8.0,8.0,3.0,3.0,,8,1,,8,,2,NPU:0\n"
                                     "b,1,6.0,8.0,8.0,2.0,2.0,2,8,2,,8,,2,NPU:0\n"}},
     "+a:1024@0 +b:1024@1000 -1024@3000 -1024@3000 ",
     NULL,
     "rows skipped, the first in line 2: a cell is empty or no number where others have one"},
    {"MindSpore's records have a total of what is active",
     {{"operator_memory.csv", HEADER "a,1,5.0,8.0,N/A,3.0,N/A,1,8,1,1,8,1,2,NPU:0\n"},
      {"memory_record.csv", "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),"
                            "Device Type\nMindSpore,5.0,1,8,NPU:0\n"}},
     NULL,
     NULL,
     "memory_record.csv has no column \"Total Active\""},
    {"a duration, and no release time beside that of the return",
     {{"operator_memory.csv",
       HEADER "a,1,5.0,,8.0,3.0,3.0,1,8,1,1,8,1,2,NPU:0\n"
              "b,1,6.0,8.0,8.0,2.0,2.0,0.0009765625,8,0.0009765625,0,8,0,2,NPU:0\n"}},
     "+b:1024@1000 -1024@3000 ",
     NULL,
     "rows skipped, the first in line 2"},
    {"pitfall 13: a workspace that is handed out again and again",
     {{"operator_memory.csv", HEADER "w,1,5.0,,,,,1,2,1,,,,7,NPU:0\nw,3,6.0,,,,,3,4,3,,,,7,NPU:0\n"
                                     "a,1,7.0,,,,,9,9,9,,,,7,NPU:0\n"},
      {"memory_record.csv", RECORD_HEADER
       "WORKSPACE,5.0,1,2,1,7,NPU:0\nWORKSPACE,6.0,3,4,3,7,NPU:0\nPTA,7.0,9,9,9,7,NPU:0\n"}},
     "pta_workspace+w:1024@0 pta_workspace-1024@1000 pta_workspace+w:3072@1000 +a:1024@2000 ",
     NULL,
     NULL},
    {"pitfall 13: the same row twice, as where an address was given out twice",
     {{"operator_memory.csv", OLD_HEADER "a,1,5.0,6.0,,,,,,NPU:0\na,1,5.0,6.0,,,,,,NPU:0\n"}},
     "+a:1024@0 +a:1024@0 -1024@1000 -1024@1000 ",
     NULL,
     NULL},
    {"pitfall 14: several devices in one file",
     {{"operator_memory.csv",
       OLD_HEADER "a,1,5.0,,,1,4,,,NPU:4\nb,1,6.0,,,2,8,,,NPU:5\nc,1,7.0,,,2,4,,,NPU:4\n"}},
     "d4+a:1024@0 d5+b:1024@1000 d4+c:1024@2000 ",
     NULL,
     NULL},
    {"pitfall 16: MindSpore's MB, proved by operator_memory",
     {{"memory_record.csv", MINDSPORE_RECORD_HEADER "MindSpore,5.0,1.024,524.288,1.024,NPU:0\n"},
      {"operator_memory.csv",
       HEADER "Add,1,5.0,N/A,N/A,N/A,N/A,1.0,512.0,1.0,N/A,N/A,N/A,187651338699376,NPU:0\n"}},
     "mindspore+Add:1024@0 ",
     "MindSpore reserved=536870912@0 "
     "MindSpore allocated=1048576@0 MindSpore active=1048576@0 "
     "MindSpore older blocks=1047552@0 ",
     "corrected by 1.024, as operator_memory.csv proves"},
    {"pitfall 16: MindSpore's MB where it is one",
     {{"memory_record.csv", MINDSPORE_RECORD_HEADER "MindSpore,5.0,1.0,512.0,1.0,NPU:0\n"},
      {"operator_memory.csv",
       HEADER "Add,1,6.0,N/A,N/A,N/A,N/A,1.0,512.0,1.0,N/A,N/A,N/A,187651338699376,NPU:0\n"}},
     NULL,
     "MindSpore reserved=536870912@0 MindSpore allocated=1048576@0 MindSpore active=1048576@0 "
     "MindSpore older blocks=1047552@1000 ",
     "MB is 1,048,576 B, as operator_memory.csv proves"},
    {"pitfall 17: streams as pointer, id, -1, nothing and 9.4509E+13",
     {{"operator_memory.csv",
       HEADER "a,1,5.0,,,,,,,,,,,94509039890976,NPU:0\nb,1,6.0,,,,,,,,,,,2,NPU:0\n"
              "c,1,7.0,,,,,,,,,,,-1,NPU:0\nd,1,8.0,,,,,,,,,,,9.4509E+13,NPU:0\n"}},
     "+a:1024@0 +b:1024@1000 +c:1024@2000 +d:1024@3000 ",
     NULL,
     NULL},
    {"pitfall 18: steps in trace_view.json, with times as text",
     {{"operator_memory.csv", OLD_HEADER "a,1,5.0,,,,,,,NPU:0\nb,1,15.0,,,,,,,NPU:0\n"},
      {"trace_view.json",
       "[{\"name\": \"other\", \"ts\": \"1.0\", \"dur\": 3},\n"
       "{\"args\": {\"x\": 1}, \"name\": \"ProfilerStep#8\", \"ts\": \"14.000\", \"dur\": 2.5},\n"
       "{\"ph\": \"X\", \"name\": \"ProfilerStep#7\", \"pid\": 1, \"tid\": 2, \"ts\": \"4.000\", "
       "\"dur\": 10.0, \"args\": {}}]"}},
     "[7@0 +a:1024@1000 ]7@10000 [8@10000 +b:1024@11000 ]8@12500 ",
     NULL,
     NULL},
    {"steps are ranges of mstx, rather than guessed from kernels",
     {{"operator_memory.csv", OLD_HEADER "a,1,5.0,,,,,,,NPU:0\nb,1,15.0,,,,,,,NPU:0\n"},
      {"msprof_tx_20260101000000.csv",
       "Device_id,pid,tid,category,event_type,payload_type,payload_value,Start_time(us),"
       "End_time(us),message_type,message,domain,Device Start_time(us),Device End_time(us)\n"
       "0,1,2,0,marker,0,0,1.000\t,1.000\t,0,step 6,default,N/A,N/A\n"
       "0,1,2,0,start/end,0,0,4.000\t,14.000\t,0,step 7,default,N/A,N/A\n"
       "0,1,2,0,start/end,0,0,6.000\t,7.000\t,0,optimizer step 7,default,N/A,N/A\n"
       "0,1,2,0,push/pop,0,0,14.000\t,16.500\t,0,\"train_step, 8\",default,N/A,N/A\n"},
      {"kernel_details.csv", "Step ID,Start Time(us),Duration(us)\n1,6.0,1\n2,8.0,1\n"}},
     "[7@0 +a:1024@1000 ]7@10000 [8@10000 +b:1024@11000 ]8@12500 ",
     NULL,
     "steps are the ranges of mstx that are called a step"},
    {"ranges of mstx without a number count from 1",
     {{"operator_memory.csv", OLD_HEADER "a,1,5.0,,,,,,,NPU:0\n"},
      {"msprof_tx.csv", "pid,tid,category,event_type,payload_type,payload_value,Start_time(us),"
                        "End_time(us),message_type,message\n1,2,0,start/end,0,0,6.0,7.0,0,step "
                        "start\n1,2,0,start/end,0,0,4.0,5.5,0,\"step start\"\n"}},
     "[1@0 +a:1024@1000 ]1@1500 [2@2000 ]2@3000 ",
     NULL,
     NULL},
    {"steps guessed from kernels",
     {{"operator_memory.csv", OLD_HEADER "a,1,5.0,,,,,,,NPU:0\n"},
      {"kernel_details.csv",
       "Step ID,Name,Start Time(us),Duration(us),Input Shapes\n7,k,6.0\t,1,\"\"\"1,2\"\"\"\n"
       ",k,6.5,1,\n7,k,8.0,1,\n8,k,10.0,1,\n"}},
     "+a:1024@0 [7@1000 ]7@4000 [8@5000 ]8@6000 ",
     NULL,
     "steps are guessed from kernel_details.csv"},
    {"one step of kernels is no border",
     {{"operator_memory.csv", OLD_HEADER "a,1,5.0,,,,,,,NPU:0\n"},
      {"kernel_details.csv", "Step Id,Start Time(us),Duration(us)\n7,6.0,1\n"}},
     "+a:1024@0 ",
     NULL,
     "one step, 7, known from kernel_details.csv only"},
    {"blocks older than the window, released in it",
     {{"operator_memory.csv", HEADER "a,1024,5.0,7.0,,,,101,200,101,60,200,60,2,NPU:0\n"
                                     "b,1024,6.0,,,,,92,200,92,,,,2,NPU:0\n"
                                     "c,1024,9.0,,,,,62,200,62,,,,2,NPU:0\n"}},
     "+a:1048576@0 -10485760@1000 +b:1048576@1000 -1048576@2000 -32505856@2000 +c:1048576@4000 ",
     NULL,
     "whose Total Allocated does not follow"},
    {"blocks of the memory tracker, with ticks, last use and an unquoted stack",
     {{"memory_block.csv",
       "start_time_stamp,end_time_stamp,device_addr,stream_id,pool_type,size,file_name,line_num,"
       "type,producer_task,task_name,node_name,user_tasks,last_user_task,python_stack,\n"
       "1,40,0x10,0,pool,4096,m.py,12,kWeight,1,Load,n1,{1-20-},20,m.py:12, in f;n.py:3,\n"
       "5,9223372036854775807,0x20,0,pool,512,,0,kKernel,5,,n2,{},,,\n"
       "-1,-1,0,0,somas,64,,0,kOutput,9,Whole,n3,{},,,\n"}},
     "mindspore+Load:4096@1 mindspore+n2:512@5 mindspore~4096@20 mindspore-4096@40 ",
     NULL,
     "rows skipped, the first in line 4: times before the start of the clock"},
    {"the driver's account of the process and of the card",
     {{"npu_mem_20260101000000.csv", "Device_id,event,ddr(KB),hbm(KB),memory(KB),timestamp(us)\n"
                                     "0,0,1,2,3,5.000\t\r\n0,Device,4,5,9,5.000\t\r\n"}},
     "",
     "APP reserved=3072@0 APP ddr=1024@0 APP hbm=2048@0 Device reserved=9216@0 Device ddr=4096@0 "
     "Device hbm=5120@0 ",
     NULL},
};

/* --- reading a folder ---------------------------------------------------------------------- */

struct outcome {
    enum mt_result result;
    struct mt_error error;
    char events[4096], counters[4096], notes[8192];
    size_t process_count;
    int32_t ranks[8];
    uint64_t process_ids[8];
};

static void event_print(struct outcome *outcome, const struct model *model,
                        const struct event *event, const char *operator_name)
{
    const char *pool = model_text_at(model, model_pool_name_at(model, event->pool));
    char *to = outcome->events + strlen(outcome->events);
    int device = model_place_at(model, event->place).device;

    if (strcmp(pool, "pta") == 0)
        pool = "";
    if (event->kind == EVENT_ALLOC && device > 0)
        to += sprintf(to, "d%d", device);
    if (event->kind == EVENT_ALLOC)
        sprintf(to, "%s+%s:%" PRIu64 "@%" PRIu64 " ", pool, operator_name, event->value,
                event->time_ns);
    else if (event->kind == EVENT_FREE)
        sprintf(to, "%s-%" PRIu64 "@%" PRIu64 " ", pool, event->value, event->time_ns);
    else if (event->kind == EVENT_ACCESS)
        sprintf(to, "%s~%" PRIu64 "@%" PRIu64 " ", pool, event->value, event->time_ns);
    else if (event->kind == EVENT_STEP_BEGIN || event->kind == EVENT_STEP_END)
        sprintf(to, "%c%" PRIu64 "@%" PRIu64 " ", event->kind == EVENT_STEP_BEGIN ? '[' : ']',
                event->value, event->time_ns);
    else if (event->kind == EVENT_SAMPLE)
        sprintf(outcome->counters + strlen(outcome->counters), "%s=%" PRIu64 "@%" PRIu64 " ",
                model_text_at(model, event->text), event->value, event->time_ns);
}

static void read_events(struct outcome *outcome, struct input *input, const struct model *model)
{
    const char *operator_name = "";
    struct event events[3]; /* small: events of one row come in several batches */
    size_t count = 1;

    while (outcome->result == MT_OK && count) {
        outcome->result = input_next(input, events, 3, &count, &outcome->error);
        for (size_t i = 0; i < count; i++) {
            if (events[i].kind == EVENT_OPERATOR_BEGIN)
                operator_name = model_text_at(model, events[i].text);
            else if (events[i].kind == EVENT_OPERATOR_END)
                operator_name = "";
            event_print(outcome, model, &events[i], operator_name);
        }
    }
}

static void read_path(struct outcome *outcome, const char *path)
{
    struct model *model;
    struct input *input;
    uint64_t count;

    memset(outcome, 0, sizeof(*outcome));
    assert_int_equal(model_create(&model, NULL), MT_OK);
    outcome->result = input_open(path, model, &input, &outcome->error);
    if (outcome->result == MT_OK) {
        read_events(outcome, input, model);
        input_close(input);
    }
    for (size_t i = 0; i < model_note_count(model); i++)
        sprintf(outcome->notes + strlen(outcome->notes), "%s\n", model_note_at(model, i, &count));
    outcome->process_count = model_process_count(model);
    for (uint16_t i = 0; i < outcome->process_count && i < 8; i++) {
        outcome->ranks[i] = model_process_at(model, i)->rank;
        outcome->process_ids[i] = model_process_at(model, i)->process_id;
    }
    model_destroy(model);
}

static void is_survived(void **state)
{
    const struct oddity *oddity = *state;
    static struct outcome outcome;
    char *folder = temporary_folder_create();

    for (size_t i = 0; i < 3 && oddity->files[i].name; i++)
        free(temporary_file_write(folder, oddity->files[i].name, oddity->files[i].text,
                                  strlen(oddity->files[i].text)));
    read_path(&outcome, folder);
    temporary_folder_remove(folder);
    assert_string_equal(outcome.error.message, "");
    assert_int_equal(outcome.result, MT_OK);
    if (oddity->events)
        assert_string_equal(outcome.events, oddity->events);
    if (oddity->counters)
        assert_string_equal(outcome.counters, oddity->counters);
    if (oddity->note && !strstr(outcome.notes, oddity->note))
        fail_msg("no \"%s\" in\n%s", oddity->note, outcome.notes);
}

/* --- what is refused, and folders of ranks ------------------------------------------------- */

struct refusal {
    const char *file, *text;
    enum mt_result result;
};

static void says_why_a_file_cannot_be_read(void **state)
{
    static const struct refusal refusals[] = {
        {"operator_memory.csv", "", MT_NO_DATA},
        {"operator_memory.csv", HEADER, MT_NO_DATA},
        {"operator_memory.csv", "Name,Size(KB),Allocation Time(us),Release Ti", MT_CORRUPT},
        {"operator_memory.csv", "a,1,5.0\n", MT_CORRUPT},
        {"ascend_pytorch_profiler_0.db", "not a database, but long enough to be one", MT_CORRUPT},
    };
    static struct outcome outcome;

    (void)state;
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        char *folder = temporary_folder_create();

        free(temporary_file_write(folder, refusals[i].file, refusals[i].text,
                                  strlen(refusals[i].text)));
        read_path(&outcome, folder);
        assert_int_equal(outcome.result, refusals[i].result);
        assert_true(strlen(outcome.error.message) > 10);
        temporary_folder_remove(folder);
    }
}

static void a_single_file_is_known_by_its_header(void **state)
{
    static const char text[] = OLD_HEADER "a,1,5.0,6.0,,,,,,NPU:0\n";
    static struct outcome outcome;
    char *folder = temporary_folder_create();
    char *path = temporary_file_write(folder, "renamed.txt", text, strlen(text));

    (void)state;
    read_path(&outcome, path);
    assert_int_equal(outcome.result, MT_OK);
    assert_string_equal(outcome.events, "+a:1024@0 -1024@1000 ");
    free(path);
    temporary_folder_remove(folder);
}

/* Step events lie across the pieces in which the file is read. */
static void steps_are_found_anywhere_in_a_large_trace(void **state)
{
    enum { step_count = 60, padding = 40000 };
    static const char row[] = OLD_HEADER "a,1,5.0,,,,,,,NPU:0\n";
    static struct outcome outcome;
    static char text[step_count * (padding + 256)];
    char *folder = temporary_folder_create();
    size_t length = 0;
    unsigned found = 0;

    (void)state;
    for (unsigned i = 1; i <= step_count; i++) {
        length += (size_t)sprintf(text + length,
                                  "{\"ph\": \"X\", \"name\": \"ProfilerStep#%u\", \"ts\": "
                                  "\"%u.000\", \"dur\": 9.5, \"args\": {}},",
                                  i, i * 10);
        memset(text + length, ' ', padding + i);
        length += padding + i;
    }
    free(temporary_file_write(folder, "operator_memory.csv", row, strlen(row)));
    free(temporary_file_write(folder, "trace_view.json", text, length));
    read_path(&outcome, folder);
    for (const char *at = outcome.events; (at = strchr(at, '[')); at++)
        found++;
    assert_int_equal(found, step_count);
    assert_non_null(strstr(outcome.events, "[60@595000 ]60@604500 "));
    temporary_folder_remove(folder);
}

static void make_rank(const char *folder, const char *name, const char *info_name, const char *info,
                      const char *row)
{
    char path[512], text[1024];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    assert_int_equal(mkdir(path, 0700), 0);
    free(temporary_file_write(path, info_name, info, strlen(info)));
    strcat(path, "/ASCEND_PROFILER_OUTPUT");
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(text, sizeof(text), "%s%s", OLD_HEADER, row);
    free(temporary_file_write(path, "operator_memory.csv", text, strlen(text)));
}

static void remove_rank(const char *folder, const char *name)
{
    char path[512], inner[600];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    snprintf(inner, sizeof(inner), "%s/ASCEND_PROFILER_OUTPUT", path);
    temporary_folder_remove(strdup(inner));
    temporary_folder_remove(strdup(path));
}

static void ranks_are_processes_and_no_devices(void **state)
{
    static struct outcome outcome;
    char *folder = temporary_folder_create();

    (void)state;
    make_rank(folder, "a_host_4711_20250109144402123_ascend_pt", "profiler_info_3.json",
              "{\"rank_id\": \"3\", \"torch_npu_version\": \"2.7.1\"}", "c,1,7.0,,,,,,,NPU:5\n");
    make_rank(folder, "b_host_12_20250109144402123_ascend_pt", "profiler_info.json",
              "{\"rank_id\": 2}", "a,1,5.0,,,,,,,NPU:4\n");
    read_path(&outcome, folder);
    assert_int_equal(outcome.result, MT_OK);
    assert_int_equal(outcome.process_count, 2);
    assert_int_equal(outcome.ranks[0], 2);
    assert_int_equal(outcome.ranks[1], 3);
    assert_int_equal(outcome.process_ids[0], 12);
    assert_int_equal(outcome.process_ids[1], 4711);
    assert_string_equal(outcome.events, "d5+c:1024@2000 d4+a:1024@0 ");
    remove_rank(folder, "a_host_4711_20250109144402123_ascend_pt");
    remove_rank(folder, "b_host_12_20250109144402123_ascend_pt");
    temporary_folder_remove(folder);
}

static void a_rank_may_be_known_from_its_folder_only(void **state)
{
    static const struct {
        const char *folder, *info_name, *info;
        int32_t rank;
    } ranks[] = {
        {"rank2_start5_stop9", "other.json", "{}", 2},
        {"rank-4_20250109144402123_ascend_ms", "profiler_info.json", "{\"ms_version\": \"2.6\"}",
         4},
        {"rank_3", "profiler_metadata.json", "{\"distributed_args\": {\"rank\": 6}}", 6},
        {"rank_3", "profiler_info_5.json", "{ damaged", 5},
        {"ranks", "other.json", "{}", -1},
    };
    static struct outcome outcome;

    (void)state;
    for (size_t i = 0; i < sizeof(ranks) / sizeof(ranks[0]); i++) {
        char *folder = temporary_folder_create();

        make_rank(folder, ranks[i].folder, ranks[i].info_name, ranks[i].info,
                  "a,1,5.0,,,,,,,NPU:0\n");
        read_path(&outcome, folder);
        assert_int_equal(outcome.result, MT_OK);
        assert_int_equal(outcome.ranks[0], ranks[i].rank);
        remove_rank(folder, ranks[i].folder);
        temporary_folder_remove(folder);
    }
}

static void an_endlessly_nested_info_is_not_read(void **state)
{
    enum { depth = 1000000 };
    static const char begin[] = "/* \" */ {\"rank_id\": ";
    static struct outcome outcome;
    char *folder = temporary_folder_create(), *text = calloc(1, sizeof(begin) + 2 * depth + 1);

    (void)state;
    memcpy(text, begin, sizeof(begin) - 1);
    memset(text + sizeof(begin) - 1, '[', depth);
    memset(text + sizeof(begin) - 1 + depth, ']', depth);
    text[sizeof(begin) - 1 + 2 * depth] = '}';
    make_rank(folder, "rank_3", "profiler_info.json", text, "a,1,5.0,,,,,,,NPU:0\n");
    read_path(&outcome, folder);
    assert_int_equal(outcome.result, MT_OK);
    assert_int_equal(outcome.ranks[0], 3);
    remove_rank(folder, "rank_3");
    temporary_folder_remove(folder);
    free(text);
}

int main(void)
{
    enum { oddity_count = sizeof(oddities) / sizeof(oddities[0]), others = 6 };
    struct CMUnitTest tests[oddity_count + others] = {
        cmocka_unit_test(says_why_a_file_cannot_be_read),
        cmocka_unit_test(a_single_file_is_known_by_its_header),
        cmocka_unit_test(ranks_are_processes_and_no_devices),
        cmocka_unit_test(steps_are_found_anywhere_in_a_large_trace),
        cmocka_unit_test(a_rank_may_be_known_from_its_folder_only),
        cmocka_unit_test(an_endlessly_nested_info_is_not_read),
    };

    for (size_t i = 0; i < oddity_count; i++)
        tests[others + i] = (struct CMUnitTest){.name = oddities[i].name,
                                                .test_func = is_survived,
                                                .initial_state = (void *)&oddities[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
